import { Redis } from 'ioredis';
import type { Logger } from './logger.ts';

const RETRY_STEP_MS = 50;
const MAX_RETRY_MS = 500;

/**
 * A connection that was asked something and says nothing for so long is given up: the machine behind it may be gone, which
 * the operating system would find out after a quarter of an hour. Commands that block are answered within 10 seconds.
 */
const SILENCE_MS = 5_000;
const BLOCKING_SILENCE_MS = 15_000;

const retryStrategy = (attempt: number): number => Math.min(attempt * RETRY_STEP_MS, MAX_RETRY_MS);

/**
 * A connection whose commands fail at once while Redis is unreachable; it reconnects in the background. For requests.
 *
 * @param options `commandTimeout`: milliseconds after which a command fails because Redis hangs; `enableAutoPipelining`:
 *   false sends each command at once and not those of a turn together
 */
export function connectFailFast(
  url: string,
  logger: Logger,
  options: { readonly commandTimeout?: number; readonly enableAutoPipelining?: boolean } = {},
): Redis {
  return watch(
    new Redis(url, {
      enableAutoPipelining: true,
      ...options,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      socketTimeout: SILENCE_MS,
      retryStrategy,
    }),
    logger,
  );
}

/** A connection whose commands wait until Redis is back. For workers and subscriptions. */
export function connectQueueing(url: string, logger: Logger): Redis {
  return watch(
    new Redis(url, { maxRetriesPerRequest: null, retryStrategy, socketTimeout: BLOCKING_SILENCE_MS }),
    logger,
  );
}

/** Logs the first error of an outage and its end, not each failed attempt. */
function watch(redis: Redis, logger: Logger): Redis {
  let unreachable = false;
  redis.on('error', (error) => {
    if (!unreachable) logger.warn({ err: error }, 'Redis is unreachable');
    unreachable = true;
  });
  redis.on('ready', () => {
    if (unreachable) logger.info('Redis is back');
    unreachable = false;
  });
  return redis;
}
