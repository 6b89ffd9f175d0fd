import { Redis } from 'ioredis';
import { readEnvironment } from '../../config/environment.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import type { Part } from './supervisor.ts';

export interface UrlPart extends Part {
  readonly url: string;
}

/** A Postgres with an empty database brought to the newest schema. */
export async function startDatabase(): Promise<UrlPart> {
  const postgres = await startPostgres();
  const files = await migrate(postgres.url).catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  return { ...postgres, note: `${postgres.url}, ${files.length} migrations` };
}

/** The Redis of `REDIS_URL` when it is set, otherwise one of our own. */
export async function startQueueStore(queuePrefix: string): Promise<UrlPart> {
  if (process.env.REDIS_URL) return useGivenRedis(readEnvironment(['REDIS_URL']).REDIS_URL, queuePrefix);
  const redis = await startRedis({ durable: true });
  return { ...redis, note: redis.url };
}

/** Leaves a Redis of the user as it was: takes away the keys of this demo's queues. */
async function useGivenRedis(url: string, queuePrefix: string): Promise<UrlPart> {
  const client = new Redis(url, { maxRetriesPerRequest: 1 });
  await client.ping();
  const stop = async () => {
    for await (const keys of client.scanStream({ match: `${queuePrefix}*` }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await client.unlink(...keys);
    }
    client.disconnect();
  };
  return { url, note: 'REDIS_URL', stop };
}
