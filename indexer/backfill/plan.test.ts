import pg from 'pg';
import type { Address } from 'viem';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import { createMigratedDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createOnchainTables } from '../../test/harness/onchain-tables.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { serveSchema } from '../publication/live-views.ts';
import { SchemaLock } from '../publication/schema-lock.ts';
import { dropRepaired, dropSchema } from './drop.ts';
import { isUnfinished, planBackfill, ReadersOfCacheError, recordServed } from './plan.ts';
import { assertNoMissingPools } from './start-block.ts';

const NOTHING_CHOSEN = { refetch: null, fresh: false };
const FACTORY = '0x00000000000000000000000000000000000000fa';

let home: TestDatabase;
let database: pg.Pool;

beforeEach(async () => {
  home = await createMigratedDatabase();
  database = new pg.Pool({ connectionString: home.url, max: 4 });
  await createIndex('onchain_1');
});

afterEach(async () => {
  await database.end();
  await home.drop();
});

async function createIndex(schema: string): Promise<void> {
  await createOnchainTables(database, schema);
  await database.query(`INSERT INTO ${schema}._ponder_meta VALUES ('app', '{"is_ready": 1}')`);
  await serveSchema(database, 'onchain_1');
}

/** In place of Ponder's, with the columns of these tests. */
const emptyCache = 'DROP SCHEMA ponder_sync CASCADE; CREATE SCHEMA ponder_sync;';

async function fillCache(): Promise<void> {
  await database.query(`${emptyCache} CREATE TABLE ponder_sync.logs (chain_id int8);
                        CREATE TABLE ponder_sync.intervals (chain_id int8);
                        INSERT INTO ponder_sync.logs VALUES (1), (1), (56); INSERT INTO ponder_sync.intervals VALUES (1), (56)`);
}

async function cachedChains(): Promise<string[]> {
  const { rows } = await database.query<{ chain_id: string }>(
    'SELECT chain_id FROM ponder_sync.logs UNION ALL SELECT chain_id FROM ponder_sync.intervals ORDER BY 1',
  );
  return rows.map(({ chain_id }) => chain_id);
}

test('an unfinished run is gone on with, a finished one is not', async () => {
  const first = await planBackfill(database, NOTHING_CHOSEN);
  expect(first).toEqual({ schema: 'onchain_2', replaces: 'onchain_1', refetched: [], attempt: 0, resumed: false });
  await createIndex('onchain_2');
  const again = await planBackfill(database, NOTHING_CHOSEN);
  expect(again).toEqual({ ...first, resumed: true });
  expect(await isUnfinished(database, first, NOTHING_CHOSEN)).toBe(false);
  expect(await isUnfinished(database, again, NOTHING_CHOSEN)).toBe(true);
  expect(await isUnfinished(database, again, { ...NOTHING_CHOSEN, schema: 'onchain_2' })).toBe(false);
  await serveSchema(database, 'onchain_2', (client) => recordServed(client, again));
  expect(await planBackfill(database, NOTHING_CHOSEN)).toMatchObject({ schema: 'onchain_3', replaces: 'onchain_2' });
  // A way back that was begun: the index has served.
  await database.query('DELETE FROM operator.backfill WHERE served_at IS NULL');
  await planBackfill(database, { ...NOTHING_CHOSEN, schema: 'onchain_1' });
  const back = await planBackfill(database, NOTHING_CHOSEN);
  expect(back).toMatchObject({ schema: 'onchain_1', resumed: true });
  expect(await isUnfinished(database, back, NOTHING_CHOSEN)).toBe(false);
});

test('a repair does not go on with a way back that was begun', async () => {
  await fillCache();
  const first = await planBackfill(database, NOTHING_CHOSEN);
  await createIndex('onchain_2');
  await serveSchema(database, 'onchain_2', (client) => recordServed(client, first));
  await planBackfill(database, { ...NOTHING_CHOSEN, schema: 'onchain_1' });
  const repair = { refetch: [1], fromBlocks: new Map([[1, 0]]), attempts: new Map([[1, 1]]), fresh: false };
  expect(await planBackfill(database, repair)).toMatchObject({ schema: 'onchain_3', resumed: false });
  expect(await cachedChains()).toEqual(['56', '56']);
  expect(await planBackfill(database, repair)).toMatchObject({ schema: 'onchain_3', resumed: true });
});

test('the cached logs of the chosen chains are removed once, and no others', async () => {
  await fillCache();
  const plan = await planBackfill(database, { refetch: [1], fresh: false });
  expect(plan).toMatchObject({ schema: 'onchain_2', refetched: [1] });
  expect(await cachedChains()).toEqual(['56', '56']);
  await database.query('INSERT INTO ponder_sync.logs VALUES (1)');
  expect(await planBackfill(database, { refetch: [1], fresh: false })).toEqual({ ...plan, resumed: true });
  expect(await planBackfill(database, NOTHING_CHOSEN)).toEqual({ ...plan, resumed: true });
  expect(await cachedChains()).toEqual(['1', '56', '56']);
  const other = planBackfill(database, { refetch: [56], fresh: false });
  await expect(other).rejects.toThrow('--chains: the unfinished backfill into "onchain_2" was begun with --chains 1');
  const repair = { refetch: [1, 56], fromBlocks: new Map([[56, 8]]), fresh: false };
  expect(await planBackfill(database, repair)).toEqual({ ...plan, resumed: true });
});

test('while cached logs are removed, the indexer that serves notes what it has read', async () => {
  await fillCache();
  const slow = await database.connect();
  await slow.query('BEGIN; SELECT FROM ponder_sync.logs FOR UPDATE');
  const planning = planBackfill(database, { refetch: [1], fresh: false });
  await vi.waitUntil(async () => (await database.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0);
  const note = "SET LOCAL lock_timeout = '5s'; UPDATE ponder_sync.intervals SET chain_id = chain_id";
  const isNoted = await database.query(note).then(
    () => true,
    () => false,
  );
  await slow.query('ROLLBACK');
  slow.release();
  await planning;
  expect(isNoted).toBe(true);
  expect(await cachedChains()).toEqual(['56', '56']);
});

test('while an indexer reads the cached logs they stay, and nothing is begun', async () => {
  await fillCache();
  const reader = new SchemaLock(home.url, 'onchain_1');
  await reader.keep();
  await expect(planBackfill(database, { refetch: [1], fresh: false })).rejects.toThrow(ReadersOfCacheError);
  expect(await cachedChains()).toEqual(['1', '1', '1', '56', '56']);
  expect((await database.query('SELECT FROM operator.backfill')).rows).toEqual([]);
  await reader.leaveCache();
  await planBackfill(database, { refetch: [1], fresh: false });
  await reader.release();
});

test('only an index that a repair replaced, and that serves no more, goes before the next repair', async () => {
  const replace = async (refetch: readonly number[] | null, attempts?: ReadonlyMap<number, number>) => {
    const plan = await planBackfill(database, { refetch, attempts, fresh: false });
    await createIndex(plan.schema);
    await serveSchema(database, plan.schema, (client) => recordServed(client, plan));
  };
  await replace(null);
  await fillCache();
  await replace([1]);
  await replace([1], new Map([[1, 1]]));
  const lock = new SchemaLock(home.url, 'onchain_3');
  await lock.keep();
  expect(await dropRepaired(database)).toEqual([]);
  await lock.release();
  expect(await dropRepaired(database)).toEqual(['onchain_3']);
  expect((await listIndexSchemas(database)).map(({ name }) => name)).toEqual(['onchain_1', 'onchain_2', 'onchain_4']);
});

test('--fresh drops what an unfinished run has left, unless it is being written', async () => {
  const { schema } = await planBackfill(database, NOTHING_CHOSEN);
  await createIndex(schema);
  const writer = new SchemaLock(home.url, schema);
  await writer.keep();
  const fresh = () => planBackfill(database, { refetch: null, fresh: true });
  await expect(fresh()).rejects.toThrow('another indexer writes schema "onchain_2"');
  await writer.release();
  expect(await fresh()).toMatchObject({ schema, resumed: false });
  expect((await database.query('SELECT to_regnamespace($1) AS schema', [schema])).rows).toEqual([{ schema: null }]);
});

test('an index that is there is not mixed with logs fetched again', async () => {
  await createIndex('onchain_2');
  const request = { schema: 'onchain_2', fresh: false };
  await expect(planBackfill(database, { ...request, refetch: [1] })).rejects.toThrow(
    'has rows of these chains already',
  );
  expect(await planBackfill(database, { ...request, refetch: null })).toMatchObject({ schema: 'onchain_2' });
});

test('what is no index is neither filled nor dropped, and what serves stays', async () => {
  const fill = (schema: string) => planBackfill(database, { schema, refetch: null, fresh: true });
  for (const schema of ['operator', 'public', 'read_model']) {
    await expect(fill(schema)).rejects.toThrow(`schema "${schema}" is no index`);
    await expect(dropSchema(database, schema)).rejects.toThrow(`schema "${schema}" is no index`);
  }
  await expect(fill('onchain_1')).rejects.toThrow('readers are served from "onchain_1" already');
  await expect(dropSchema(database, 'onchain_1')).rejects.toThrow('readers are served from "onchain_1"');
});

test('an index that a backup reads is not dropped, and holds up no other reader', async () => {
  await createIndex('onchain_2');
  const backup = await database.connect();
  await backup.query('BEGIN; SELECT FROM onchain_2.swap');
  const dropped = expect(dropSchema(database, 'onchain_2')).rejects.toThrow('reads "onchain_2": try again');
  await vi.waitUntil(async () => (await database.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0);
  const reader = new pg.Client({ connectionString: home.url, statement_timeout: 10_000 });
  await reader.connect();
  await reader.query('SELECT FROM onchain_2._ponder_checkpoint; SELECT FROM onchain_2.swap');
  await dropped;
  await backup.query('ROLLBACK');
  backup.release();
  await reader.end();
  await dropSchema(database, 'onchain_2');
  expect((await listIndexSchemas(database)).map(({ name }) => name)).toEqual(['onchain_1']);
});

test('an index without the first pool of a factory is not served', async () => {
  await database.query('ALTER TABLE onchain_1.pool DROP CONSTRAINT pool_pkey');
  const { rows } = await database.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'onchain_1' AND table_name = 'pool'`,
  );
  for (const { name } of rows) await database.query(`ALTER TABLE onchain_1.pool ALTER COLUMN "${name}" DROP NOT NULL`);
  const followed = [{ chainId: 1, startBlock: 7, factory: FACTORY as Address, rpc: new ChainRpc([]) }];
  const check = () => assertNoMissingPools(database, 'onchain_1', followed, new Map());
  const addPool = (index: number) =>
    database.query('INSERT INTO onchain_1.pool (chain_id, factory, pool_idx) VALUES (1, $1, $2)', [FACTORY, index]);
  await addPool(2);
  await expect(check()).rejects.toThrow(`fromBlock 7 of chain 1 is too late: the first pool of factory ${FACTORY}`);
  await addPool(1);
  await check();
});

test('of a repaired chain, the cache keeps what was read below the first block that is fetched again', async () => {
  await database.query(`${emptyCache} CREATE TABLE ponder_sync.logs (chain_id int8, block_number int8);
    CREATE TABLE ponder_sync.blocks (chain_id int8, number int8);
    CREATE TABLE ponder_sync.intervals (chain_id int8, fragment_id text, blocks nummultirange);
    INSERT INTO ponder_sync.logs SELECT chain, block FROM unnest('{1,56}'::int8[]) chain, unnest('{5,7,8,9}'::int8[]) block;
    INSERT INTO ponder_sync.blocks TABLE ponder_sync.logs;
    INSERT INTO ponder_sync.intervals VALUES (1, 'around', '{[2,4],[5,12]}'), (1, 'below', '{[2,8]}'), (1, 'from', '{[8,12]}'),
      (1, 'above', '{[9,12]}'), (56, 'other', '{[5,12]}')`);
  await planBackfill(database, { refetch: [1], fromBlocks: new Map([[1, 8]]), fresh: false });
  for (const [table, column] of [
    ['logs', 'block_number'],
    ['blocks', 'number'],
  ] as const) {
    const { rows } = await database.query(`SELECT array_agg(${column} ORDER BY 1) AS kept FROM (
      SELECT ${column} FROM ponder_sync.${table} WHERE chain_id = 1 ORDER BY 1) k`);
    expect(rows[0].kept, table).toEqual(['5', '7']);
  }
  const { rows } = await database.query(
    'SELECT fragment_id AS name, blocks::text FROM ponder_sync.intervals ORDER BY 1',
  );
  // `[5,8]` is what Ponder writes when it has read blocks 5 to 7.
  expect(Object.fromEntries(rows.map(({ name, blocks }) => [name, blocks]))).toEqual({
    above: '{}',
    around: '{[2,4],[5,8]}',
    below: '{[2,8]}',
    from: '{}',
    other: '{[5,12]}',
  });
});
