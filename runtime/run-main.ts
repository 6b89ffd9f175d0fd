import { ConfigError } from '../config/config-error.ts';

/**
 * Runs a process's main function: a wrong setting ends it with one line on standard error and its exit code, anything
 * unexpected with its stack and 1.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    const exitCode = error instanceof ConfigError ? error.exitCode : 1;
    process.exitCode = exitCode;
    // Handles that main opened before it failed must not keep the process alive.
    setTimeout(() => process.exit(exitCode), 100).unref();
  });
}
