import { Redis } from 'ioredis';
import type { Logger } from './logger.ts';
import { OutageLog } from './outage-log.ts';

const RETRY_STEP_MS = 50;
const MAX_RETRY_MS = 500;

/**
 * A connection that returns nothing for this long after a command is closed. Its machine may be gone, which the
 * operating system would detect only after a quarter of an hour. Blocking commands return within 10 seconds.
 */
const RESPONSE_TIMEOUT_MS = 5_000;
const BLOCKING_RESPONSE_TIMEOUT_MS = 15_000;

const retryStrategy = (attempt: number): number => Math.min(attempt * RETRY_STEP_MS, MAX_RETRY_MS);

/**
 * Opens a connection for requests. It reconnects in the background; commands fail at once while Redis is unreachable.
 *
 * @param options `commandTimeout`: milliseconds after which a command fails because Redis hangs;
 *   `enableAutoPipelining`: false sends each command at once, instead of all commands of a turn together
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
      socketTimeout: RESPONSE_TIMEOUT_MS,
      retryStrategy,
    }),
    logger,
  );
}

/** Opens a connection for workers and subscriptions. Its commands wait while Redis is unreachable. */
export function connectQueueing(url: string, logger: Logger): Redis {
  return watch(
    new Redis(url, { maxRetriesPerRequest: null, retryStrategy, socketTimeout: BLOCKING_RESPONSE_TIMEOUT_MS }),
    logger,
  );
}

/** Logs when an outage begins and when it ends, but not each failed attempt. */
function watch(redis: Redis, logger: Logger): Redis {
  const outage = new OutageLog(logger, { begin: 'Redis is unreachable', end: 'Redis is back' });
  redis.on('error', (error) => outage.failed(error));
  redis.on('ready', () => outage.worked());
  return redis;
}
