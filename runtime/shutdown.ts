import type { Logger } from './logger.ts';

/** Longest that an orderly stop may take before the process ends anyway. */
const LIMIT_MS = 15_000;

type Step = readonly [name: string, stop: () => Promise<unknown>];

/**
 * Runs the steps in order on the first SIGINT or SIGTERM, then exits with 0. A step that fails is logged and the next
 * one still runs; a second signal, or {@link LIMIT_MS}, ends the process with 1.
 */
export function stopOnSignal(logger: Logger, steps: readonly Step[]): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), LIMIT_MS).unref();
    logger.info({ signal }, 'stopping');
    for (const [name, run] of steps) {
      await run().catch((error: unknown) => logger.error({ err: error, step: name }, 'stopping a part failed'));
    }
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
