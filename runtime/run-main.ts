import { ConfigError } from '../config/config-error.ts';

/**
 * Runs a process's main function: a wrong setting ends it with one line on standard error and exit code 1, anything
 * unexpected with its stack.
 */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
    // Handles that main opened before it failed must not keep the process alive.
    setTimeout(() => process.exit(1), 100).unref();
  });
}
