import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { captureRules, REDIS_DATABASES, userRules } from '../../local/services/redis.ts';

export interface TestRedis {
  readonly url: string;
  /** As capture's user, if there is a prefix. */
  readonly captureUrl: string;
  /** Removes everything in it. */
  readonly drop: () => Promise<void>;
}

/**
 * An empty logical database of the run's Redis, for one test file. Database 0 holds the count of those given out.
 *
 * @param prefix the URL is of a user who may use names with this `QUEUE_PREFIX` alone, as in production
 */
export async function createRedisDatabase(prefix?: string): Promise<TestRedis> {
  const number = await withClient(inject('redisUrl'), (client) => client.incr('harness-databases'));
  if (number >= REDIS_DATABASES) throw new Error(`the run's Redis has no more than ${REDIS_DATABASES} databases`);
  const url = `${inject('redisUrl')}/${number}`;
  const user = `user-${number}`;
  const capture = `capture-${number}`;
  if (prefix !== undefined) {
    await withClient(url, (client) => client.acl('SETUSER', user, 'on', `>${user}`, ...userRules(prefix)));
    await withClient(url, (client) => client.acl('SETUSER', capture, 'on', `>${capture}`, ...captureRules(prefix)));
  }
  const urlOf = (login: string) => (prefix === undefined ? url : url.replace('://', `://${login}:${login}@`));
  return {
    url: urlOf(user),
    captureUrl: urlOf(capture),
    drop: async () => {
      await withClient(url, (client) => client.flushdb());
      await withClient(url, (client) => client.acl('DELUSER', user, capture));
    },
  };
}

async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}
