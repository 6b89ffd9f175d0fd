/** At the end of every command's help. */
export const EXIT_CODES =
  'Exit codes: 0 done; 1 wrong argument or setting, or refused; 75 try again: the database is unreachable.';

/** Prints what a command did: one JSON value for programs, or text for people. */
export function printResult(json: boolean | undefined, value: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : text);
}
