import type { Logger } from './logger.ts';

/** Longest that an orderly stop may take before the process ends anyway. */
const LIMIT_MS = 15_000;

/** Registers how a part that was started is stopped. */
export type OnStop = (name: string, stop: () => unknown) => void;

/**
 * On the first SIGINT or SIGTERM, stops all parts that were registered, the newest first, then exits with 0. A part that
 * fails to stop is logged and the next one still stops; a second signal, or {@link LIMIT_MS}, ends the process with 1.
 */
export function stopOnSignal(logger: Logger): OnStop {
  const parts: [name: string, stop: () => unknown][] = [];
  let isStopping = false;
  const stopAll = async (signal: string) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    setTimeout(() => process.exit(1), LIMIT_MS).unref();
    logger.info({ signal }, 'stopping');
    for (let part = parts.pop(); part; part = parts.pop()) {
      const [name, stop] = part;
      try {
        await stop();
      } catch (error) {
        logger.error({ err: error, part: name }, 'stopping a part failed');
      }
    }
    process.exit(0);
  };
  process.on('SIGINT', stopAll);
  process.on('SIGTERM', stopAll);
  return (name, stop) => parts.push([name, stop]);
}
