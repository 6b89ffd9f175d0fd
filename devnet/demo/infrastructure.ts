import { readEnvironment } from '../../config/environment.ts';
import { migrate } from '../../db/migrate.ts';
import type { Part } from '../../local/processes/supervisor.ts';
import { connectGivenRedis } from '../../local/services/given-redis.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { redisUrlFor, startRedis } from '../../local/services/redis.ts';
import { issueFirstKey } from '../../local/start/stores.ts';

export interface UrlPart extends Part {
  readonly url: string;
}

export interface DatabasePart extends UrlPart {
  /** A Trading API key, as `npm run keys issue` makes them. */
  readonly apiKey: string;
}

export interface QueuePart extends UrlPart {
  /** Gives the URL for the bundle of a process. */
  readonly urlFor: (main: string) => string;
}

/** A Postgres with an empty database brought to the newest schema, and a key to try the API with. */
export async function startDatabase(): Promise<DatabasePart> {
  const postgres = await startPostgres();
  try {
    const files = await migrate(postgres.url);
    const apiKey = (await issueFirstKey(postgres.url)) ?? '';
    return { ...postgres, apiKey, note: `${postgres.url}, ${files.length} migrations` };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** The Redis of `REDIS_URL` when it is set, otherwise one of our own. */
export async function startQueueStore(queuePrefix: string): Promise<QueuePart> {
  if (process.env.REDIS_URL) return useGivenRedis(readEnvironment(['REDIS_URL']).REDIS_URL, queuePrefix);
  const redis = await startRedis({ durable: true, prefix: queuePrefix });
  return { ...redis, urlFor: (main) => redisUrlFor(redis.url, main), note: redis.url };
}

/** Leaves a Redis of the user as it was: removes the keys of this demo's queues. */
async function useGivenRedis(url: string, queuePrefix: string): Promise<QueuePart> {
  const client = await connectGivenRedis(url);
  const stop = async () => {
    for await (const keys of client.scanStream({ match: `${queuePrefix}*` }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await client.unlink(...keys);
    }
    client.disconnect();
  };
  return { url, urlFor: () => url, note: 'REDIS_URL', stop };
}
