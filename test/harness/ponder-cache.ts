import { actAs } from '../../db/process-roles.ts';

const PONDER = import.meta.resolve('ponder');

interface Shutdown {
  readonly kill: () => Promise<void>;
}
interface PonderDatabase {
  readonly migrateSync: () => Promise<void>;
}

const load = <Exports>(path: string): Promise<Exports> => import(new URL(path, PONDER).href);

/**
 * Makes the tables in which Ponder keeps what it read from nodes, empty, by Ponder's own migrations: an indexer that
 * starts there has none to run.
 */
export async function createPonderCache(databaseUrl: string): Promise<void> {
  const [{ createDatabase }, { createNoopLogger }, { MetricsService }, { createShutdown }] = await Promise.all([
    load<{ createDatabase: (of: object) => PonderDatabase }>('database/index.js'),
    load<{ createNoopLogger: () => object }>('internal/logger.js'),
    load<{ MetricsService: new () => object }>('internal/metrics.js'),
    load<{ createShutdown: () => Shutdown }>('internal/shutdown.js'),
  ]);
  const shutdown = createShutdown();
  const connectionString = actAs(databaseUrl, 'ptd_indexer');
  const database = createDatabase({
    // As `ponder serve`, which keeps no index.
    common: { options: { command: 'serve' }, logger: createNoopLogger(), metrics: new MetricsService(), shutdown },
    namespace: { schema: 'public' },
    preBuild: { databaseConfig: { kind: 'postgres', poolConfig: { connectionString, max: 30 } } },
    schemaBuild: { schema: {} },
  });
  await database.migrateSync();
  await shutdown.kill();
}
