import { createInterface } from 'node:readline/promises';
import { ConfigError } from '../../config/config-error.ts';

/**
 * Asks the operator on the terminal, again while the answer cannot be read.
 *
 * @param flag the option that would have answered
 * @param parse reads the answer, as that option does
 * @param preset taken for an empty line, and where there is no terminal
 * @throws ConfigError when there is neither a terminal nor a preset
 */
export async function ask<T>(question: string, flag: string, parse: (text: string) => T, preset?: string): Promise<T> {
  if (!process.stdin.isTTY) {
    if (preset !== undefined) return parse(preset);
    throw new ConfigError(`${flag} is missing, and there is no terminal to ask on`);
  }
  // The result of the command is on standard output.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const answer = (await terminal.question(`${question}${preset ? ` [${preset}]` : ''}: `)).trim();
      try {
        return parse(answer || (preset ?? ''));
      } catch (error) {
        process.stderr.write(`${(error as Error).message}\n`);
      }
    }
  } finally {
    terminal.close();
  }
}
