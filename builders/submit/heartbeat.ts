import type { Redis } from 'ioredis';
import type { Logger } from '../../runtime/logger.ts';
import type { RedisKeys } from './queue/redis-keys.ts';

/** A running worker writes its heartbeat this often. */
export const BEAT_EVERY_MS = 5_000;
/** Two beats may fail. */
const LASTS_MS = 12_000;

/**
 * Tells the API processes of the same prefix that a worker takes their updates: writes a key that expires by itself, at
 * once and every {@link BEAT_EVERY_MS}. All workers share the key.
 *
 * @returns a function that stops it; the key is left to expire, since other workers may run
 */
export function startHeartbeat(redis: Redis, keys: RedisKeys, logger: Logger): () => void {
  const beat = (): void => {
    // A patient connection would keep the beats of an outage for later.
    if (redis.status !== 'ready') return;
    redis
      .set(keys.heartbeat(), '1', 'PX', LASTS_MS)
      .catch((error: unknown) => logger.warn({ err: error }, 'the heartbeat was not written'));
  };
  beat();
  redis.on('ready', beat);
  const timer = setInterval(beat, BEAT_EVERY_MS);
  return () => {
    clearInterval(timer);
    redis.off('ready', beat);
  };
}
