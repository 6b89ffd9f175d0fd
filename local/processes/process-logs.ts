import { createWriteStream } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/config-error.ts';

/** Gives the stream that a process's output goes to, or undefined when logs are off. */
export type LogOf = (processName: string) => NodeJS.WritableStream | undefined;

/**
 * Log files in a folder, `<process>.log` each, overwritten by every run.
 *
 * @throws ConfigError when the folder cannot be made or written
 */
export async function openLogs(folder: string | undefined): Promise<LogOf> {
  if (folder === undefined) return () => undefined;
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new ConfigError(`--logs: cannot write to ${folder} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
  return (processName) => createWriteStream(join(folder, `${processName}.log`));
}
