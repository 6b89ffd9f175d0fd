import type { Logger } from './logger.ts';

/** Longest time of an orderly stop. After it, the process ends anyway. */
const LIMIT_MS = 15_000;
/** A signal within this time after the first is the same: npm passes on what a supervisor or terminal sent to both. */
const SAME_SIGNAL_MS = 1_000;

/** Registers a function that stops a part of the process. */
export type OnStop = (name: string, stop: () => unknown) => void;

/**
 * On the first SIGINT or SIGTERM, stops all registered parts, the newest first, then exits with 0. When a part fails to
 * stop, that is logged, and the next part is stopped. A later signal, or {@link LIMIT_MS}, ends the process with 1.
 */
export function stopOnSignal(logger: Logger): OnStop {
  const parts: [name: string, stop: () => unknown][] = [];
  let firstAt: number | undefined;
  const stopAll = async (signal: string) => {
    const isFirst = firstAt === undefined;
    firstAt ??= performance.now();
    if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
    if (!isFirst) return;
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
