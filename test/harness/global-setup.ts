import { execa } from 'execa';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { migrateTemplate } from './database.ts';
import { memoryFolder } from './memory-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the run's Postgres: take a database of your own with `createDatabase()`. */
    postgresUrl: string;
    /** URL of the run's Redis, database 0: take a database of your own with `createRedisDatabase()`. */
    redisUrl: string;
  }
}

/** Builds what is outdated and starts one Postgres and one Redis for the whole run; returns what stops them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await execa('npm', ['run', '--silent', 'build', '--', '--if-outdated'], { cwd: PROJECT_ROOT });
  const postgres = await startPostgres({ parent: memoryFolder() });
  const [redis] = await Promise.all([startRedis(), migrateTemplate(postgres.url)]).catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redis.url);
  return async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
  };
}
