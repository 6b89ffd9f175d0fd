import type { TestProject } from 'vitest/node';
import { buildContracts } from '../../devnet/build-contracts.ts';
import { startPostgres } from '../../devnet/services/postgres.ts';
import { startRedis } from '../../devnet/services/redis.ts';
import { buildExplorer } from '../../web/build.ts';
import { bundleProcesses } from './bundle-processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the run's Postgres: take a database of your own with `createDatabase()`. */
    postgresUrl: string;
    /** URL of the run's Redis, database 0: take a database of your own with `createRedisDatabase()`. */
    redisUrl: string;
  }
}

/** Compiles the processes and starts one Postgres and one Redis for the whole run; returns what stops them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Kept on disk from here on: else each worker would compile them in the first file that needs them.
  buildContracts();
  // Once for all projects: the setup of each runs in this process.
  const processes = process.env.BUNDLED_PROCESSES ? undefined : await bundleProcesses();
  if (processes) await buildExplorer();
  process.env.BUNDLED_PROCESSES ??= processes?.path;
  const postgres = await startPostgres();
  const redis = await startRedis().catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redis.url);
  return async () => {
    await Promise.all([postgres.stop(), redis.stop(), processes?.remove()]);
  };
}
