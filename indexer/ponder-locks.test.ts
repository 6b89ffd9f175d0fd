import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase } from '../test/harness/database.ts';
import { openWorld } from '../test/harness/open-world.ts';

/** The patches `kept-triggers`, `start-locks` and `kept-indexes`: what reads an index reads on, whoever else does. */

const PONDER = import.meta.resolve('ponder');
const load = <Exports>(path: string): Promise<Exports> => import(new URL(path, PONDER).href);
const CHAIN = { id: 1, name: 'one' };
const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };

interface Builder {
  readonly wrap: (query: (db: { execute: (text: string) => Promise<unknown> }) => unknown) => Promise<unknown>;
  readonly transaction: (work: (tx: Builder) => Promise<unknown>) => Promise<unknown>;
}
type OfTables = (builder: Builder, of: object) => Promise<unknown>;
interface Actions {
  readonly createIndexes: OfTables;
  readonly createTriggers: OfTables;
  readonly revertMultichain: OfTables;
}
interface PonderDatabase {
  readonly migrate: (of: object) => Promise<unknown>;
  readonly adminQB: Builder;
}

/** Ponder's checkpoint of a block. */
const checkpointOf = (block: number): string =>
  [
    [block, 10],
    [CHAIN.id, 16],
    [block, 16],
    [0, 16],
    [0, 1],
    [0, 16],
  ]
    .map(([value = 0, digits = 0]) => String(value).padStart(digits, '0'))
    .join('');

const world = openWorld(async (ends) => {
  const { url } = ends.adopt(await createDatabase(), ({ drop }) => drop());
  const [{ createDatabase: createPonder }, actions, { getSql }, { onchainTable }, metrics, shutdowns] =
    await Promise.all([
      load<{ createDatabase: (of: object) => PonderDatabase }>('database/index.js'),
      load<Actions>('database/actions.js'),
      load<{ getSql: (schema: object) => { indexes: object } }>('drizzle/kit/index.js'),
      load<{ onchainTable: typeof import('ponder').onchainTable }>('drizzle/onchain.js'),
      load<{ MetricsService: new () => object }>('internal/metrics.js'),
      load<{ createShutdown: () => { kill: () => Promise<void> } }>('internal/shutdown.js'),
    ]);
  const { index } = await import('ponder');
  Object.assign(globalThis, { PONDER_NAMESPACE_BUILD: { schema: 'onchain_1' } });
  const thing = onchainTable(
    'thing',
    (t) => ({ id: t.integer().primaryKey(), size: t.integer() }),
    (table) => ({ bySize: index().on(table.size) }),
  );
  Object.assign(globalThis, { PONDER_NAMESPACE_BUILD: undefined });
  const statements = getSql({ thing });
  const shutdown = ends.adopt(shutdowns.createShutdown(), ({ kill }) => kill());
  const ponder = createPonder({
    common: {
      options: { command: 'start', databaseHeartbeatInterval: 2 ** 31 - 1, databaseHeartbeatTimeout: -1 },
      logger,
      metrics: new metrics.MetricsService(),
      shutdown,
    },
    namespace: { schema: 'onchain_1' },
    preBuild: { databaseConfig: { kind: 'postgres', poolConfig: { connectionString: url, max: 9 } } },
    schemaBuild: { schema: { thing }, statements },
  });
  const start = () => ponder.migrate({ buildId: 'one', chains: [CHAIN], finalizedBlocks: [{ timestamp: '0x9' }] });
  await start();
  const database = ends.adopt(new pg.Pool({ connectionString: url, statement_timeout: 10_000 }), (pool) => pool.end());
  await database.query(`INSERT INTO onchain_1._ponder_checkpoint VALUES ('one', 1, $1, $1, $1)`, [checkpointOf(1)]);
  await actions.createIndexes(ponder.adminQB, { statements });
  await actions.createTriggers(ponder.adminQB, { tables: [thing] });
  /** Reads the table until its end is called. */
  const backUp = async () => {
    const backup = new pg.Client({ connectionString: url });
    await backup.connect();
    onTestFinished(() => backup.end());
    await backup.query('BEGIN; LOCK TABLE onchain_1.thing IN ACCESS SHARE MODE');
    return () => backup.query('ROLLBACK');
  };
  return { database, ponder, actions, thing, start, backUp };
});

const rowsOf = async (name: string) => (await world.database.query(`TABLE onchain_1.${name} ORDER BY 1`)).rows;

test('a reorganisation is undone while a backup reads the tables', async () => {
  const { ponder, actions, thing, backUp } = world;
  const blocks = [
    'INSERT INTO onchain_1.thing VALUES (1, 1), (2, 2)',
    'UPDATE onchain_1.thing SET size = 7 WHERE id = 1; DELETE FROM onchain_1.thing WHERE id = 2; INSERT INTO onchain_1.thing VALUES (3, 3)',
  ];
  for (const [index, changes] of blocks.entries()) {
    const noted = `UPDATE onchain_1._reorg__thing SET checkpoint = '${checkpointOf(index + 2)}' WHERE checkpoint > '9'`;
    await ponder.adminQB.wrap((db) => db.execute(`${changes}; ${noted}`));
  }
  const end = await backUp();
  const revert = (block: number) =>
    ponder.adminQB.transaction((tx) =>
      actions.revertMultichain(tx, { checkpoint: checkpointOf(block), tables: [thing] }),
    );
  await revert(2);
  expect(await rowsOf('thing')).toEqual([
    { id: 1, size: 1 },
    { id: 2, size: 2 },
  ]);
  expect((await rowsOf('_reorg__thing')).map(({ checkpoint }) => checkpoint)).toEqual([2, 2].map(checkpointOf));
  await revert(1);
  expect([await rowsOf('thing'), await rowsOf('_reorg__thing')]).toEqual([[], []]);
  await end();
  expect(await readFile(new URL('runtime/multichain.js', PONDER), 'utf8')).not.toContain('dropTriggers');
});

test('an indexer that starts while a backup reads the tables holds up no reader, and keeps indexes', async () => {
  const { database, start, backUp } = world;
  const end = await backUp();
  const started = start();
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'onchain_1.thing'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await vi.waitUntil(async () => (await database.query(waiting)).rows.length > 0);
  await rowsOf('thing');
  await end();
  await started;
  const { rows } = await database.query("SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'onchain_1'");
  expect(rows.map(({ name }) => name)).toContain('thing_size_index');
});
