import pg from 'pg';
import { type Postgres, startPostgres } from '../local/services/postgres.ts';
import { type Redis, startRedis } from '../local/services/redis.ts';
import { createTempFolder, type TempFolder } from '../local/services/temp-folder.ts';

/** What our processes need besides nodes, all empty. It ends with the bench. */
export interface Stores {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly folder: TempFolder;
}

export async function startStores(): Promise<Stores> {
  const [postgres, redis, folder] = await Promise.all([startPostgres(), startRedis(), createTempFolder('bench')]);
  return { postgres, redis, folder };
}

/** Connections to a database that may end before they do. */
export function openPool(connectionString: string, max = 4): pg.Pool {
  return new pg.Pool({ connectionString, max }).on('error', () => undefined);
}

/** Makes an empty database on a server. @returns its URL */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const server = openPool(serverUrl, 1);
  await server.query(`CREATE DATABASE ${name}`).finally(() => server.end());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
