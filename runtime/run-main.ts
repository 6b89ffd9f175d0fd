import { AppError } from '../config/app-error.ts';

/**
 * Runs the main function of a process. One of our own errors, such as a wrong setting, ends the process with one line
 * on standard error and the exit code of the error. Any other error ends it with its stack and exit code 1.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const isOurs = error instanceof AppError;
    const text = isOurs ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    const exitCode = isOurs ? error.exitCode : 1;
    process.exitCode = exitCode;
    // Handles that main opened before it failed must not keep the process alive.
    setTimeout(() => process.exit(exitCode), 100).unref();
  });
}
