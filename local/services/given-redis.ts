import { Redis } from 'ioredis';
import { ConfigError } from '../../config/config-error.ts';

/** It may be reachable later. */
class RedisUnreachableError extends ConfigError {
  override readonly code = 'REDIS_UNREACHABLE';
  override readonly retryable = true;
}

/**
 * Connects to the Redis of `REDIS_URL`.
 *
 * @throws RedisUnreachableError one line
 */
export async function connectGivenRedis(url: string): Promise<Redis> {
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  let lost: Error | undefined;
  // Without a listener the driver prints every error itself. Processes that need Redis report when it is unreachable.
  client.on('error', (error: Error) => {
    lost = error;
  });
  try {
    await client.ping();
    return client;
  } catch (cause) {
    client.disconnect();
    throw new RedisUnreachableError(`REDIS_URL: ${(lost ?? (cause as Error)).message}`, { cause });
  }
}
