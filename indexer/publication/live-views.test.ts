import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { servedSchema } from '../../db/served-schema.ts';
import { createMigratedDatabase } from '../../test/harness/database.ts';
import { createOnchainTables } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { openSeeder, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { ReadModelMismatchError, serveSchema, ViewsBusyError } from './live-views.ts';

const POOL = seedAddress(0xb0);
const SCHEMAS = ['onchain_1', 'onchain_2'] as const;

const home = startedWorld(createMigratedDatabase);
let database: pg.Pool;

beforeAll(async () => {
  database = new pg.Pool({ connectionString: home.url, max: 12 });
  for (const schema of SCHEMAS) await createIndex(schema);
});

afterAll(() => database.end());

beforeEach(() => serveSchema(database, 'onchain_1'));

/** An index of one pool, in each of whose tables the schema's name can be read off. */
async function createIndex(schema: string): Promise<void> {
  await createOnchainTables(database, schema);
  const { db, end } = openSeeder(home.url, schema);
  const blockNumber = Number(schema.at(-1));
  for (const address of [TOKEN0, TOKEN1]) await seedToken(db, { chainId: 1, address, symbol: schema });
  await seedPools(db, [
    { pool: { chainId: 1, address: POOL, createdBlockNumber: blockNumber }, state: { blockNumber } },
  ]);
  await end();
}

/** Each answers which schemas its rows came from. */
const READS: readonly ((client: pg.PoolClient) => Promise<readonly string[]>)[] = [
  (client) =>
    schemasIn(
      client,
      `SELECT t.symbol AS a, 'onchain_' || p.created_block_number AS b
       FROM live.token t JOIN live.pool p ON p.token0 = t.address AND p.chain_id = t.chain_id`,
    ),
  // Prepared once per connection, as the API does, and through the functions of the read model.
  (client) =>
    schemasIn(client, {
      name: 'prepared',
      text: `SELECT p.token0_symbol AS a, 'onchain_' || s.block_number AS b
             FROM read_model.pool p JOIN read_model.pool_state s ON s.chain_id = p.chain_id AND s.pool = p.address
             WHERE p.address = $1`,
      values: [POOL],
    }),
  (client) => inOneTransaction(client, ['token', 'pool_state']),
  (client) => inOneTransaction(client, ['pool_state', 'token']),
];

async function inOneTransaction(client: pg.PoolClient, tables: readonly ('token' | 'pool_state')[]) {
  const columns = { token: 'symbol', pool_state: `'onchain_' || block_number` };
  await client.query('BEGIN');
  const schemas: string[] = [];
  for (const table of tables) {
    schemas.push(...(await schemasIn(client, `SELECT ${columns[table]} AS a FROM live.${table} LIMIT 1`)));
  }
  await client.query('COMMIT');
  return schemas;
}

async function schemasIn(client: pg.PoolClient, query: string | pg.QueryConfig): Promise<string[]> {
  const { rows } = await client.query<Record<string, string>>(query);
  expect(rows).toHaveLength(1);
  return rows.flatMap((row) => Object.values(row));
}

/** Reads in a loop until stopped; answers which schemas were seen, one entry per read. */
async function readUntil(stopped: () => boolean, first: number): Promise<string[]> {
  const client = await database.connect();
  const seen: string[] = [];
  for (let turn = first; !stopped(); turn++) {
    const schemas = new Set(await READS[turn % READS.length]?.(client));
    expect(schemas.size, 'one read saw tables of both indexes').toBe(1);
    seen.push(...schemas);
  }
  client.release();
  return seen;
}

test('readers meet no error, no half of a switch and no missing row while the views turn back and forth', async () => {
  let stopped = false;
  const readers = READS.map((_, first) => readUntil(() => stopped, first));
  const failed = Promise.race(readers);
  const switches = async () => {
    for (let turn = 1; turn <= 6; turn++) await serveSchema(database, SCHEMAS[turn % 2] ?? 'onchain_1');
    stopped = true;
  };
  await Promise.race([switches(), failed]).finally(() => {
    stopped = true;
  });
  const seen = (await Promise.all(readers)).flat();
  expect(new Set(seen)).toEqual(new Set(SCHEMAS));
});

test('which index serves is read off the views', async () => {
  expect(await servedSchema(database)).toBe('onchain_1');
  await serveSchema(database, 'onchain_2');
  expect(await servedSchema(database)).toBe('onchain_2');
});

test('a database without an index serves none', async () => {
  const empty = await createMigratedDatabase();
  const client = new pg.Pool({ connectionString: empty.url });
  expect(await servedSchema(client)).toBeNull();
  await client.end();
  await empty.drop();
});

test('what is done alongside is undone with the switch', async () => {
  const refuse = async () => {
    throw new Error('refused');
  };
  await expect(serveSchema(database, 'onchain_2', refuse)).rejects.toThrow('refused');
  expect(await servedSchema(database)).toBe('onchain_1');
});

test('a reader that does not let go keeps the views as they are, and blocks nobody else', async () => {
  const reader = await database.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM live.token');
  await expect(serveSchema(database, 'onchain_2', undefined, 300)).rejects.toThrow(ViewsBusyError);
  await reader.query('ROLLBACK');
  reader.release();
  expect(await servedSchema(database)).toBe('onchain_1');
  await serveSchema(database, 'onchain_2');
});

test('an index that the read model does not fit is not served', async () => {
  await createIndex('onchain_3');
  await serveSchema(database, 'onchain_1');
  await database.query('ALTER TABLE onchain_3.swap DROP COLUMN recipient CASCADE');
  await expect(serveSchema(database, 'onchain_3')).rejects.toThrow(ReadModelMismatchError);
  await expect(serveSchema(database, 'onchain_3')).rejects.toThrow(
    /does not fit the new index: column s.recipient does not exist \(SQL function "(sent_)?swap_rows"/,
  );
  expect(await servedSchema(database)).toBe('onchain_1');
});

test('an index whose tables are those of another release is not served, and its lists are shown as rows and columns', async () => {
  await serveSchema(database, 'onchain_1');
  const { rows } = await database.query('SELECT bin_idx, length_e6, lower_dist_e6 FROM live.pool_bin ORDER BY bin_idx');
  expect(rows).toHaveLength(11);
  expect(rows[0]).toEqual({ bin_idx: -5, length_e6: 1_000, lower_dist_e6: -5_000 });
  await createIndex('onchain_4');
  await database.query('ALTER TABLE onchain_4.pool_activity RENAME totals TO sums');
  await serveSchema(database, 'onchain_1');
  await expect(serveSchema(database, 'onchain_4')).rejects.toThrow(ReadModelMismatchError);
  expect(await servedSchema(database)).toBe('onchain_1');
});

test('an index of a release that did not know the oldest generation is served, without trades of it', async () => {
  await createIndex('onchain_5');
  await serveSchema(database, 'onchain_1');
  await database.query('DROP TABLE onchain_5.v0_pool, onchain_5.v0_swap CASCADE');
  await serveSchema(database, 'onchain_5');
  for (const view of ['dex_trades', 'pool_day'])
    expect((await database.query(`SELECT FROM read_model.${view}`)).rows).toEqual([]);
  await serveSchema(database, 'onchain_1');
  const { rows } = await database.query(`SELECT read_model.served_schema() AS served, count(*) FROM live.v0_swap`);
  expect(rows).toEqual([{ served: 'onchain_1', count: '0' }]);
});

test('tables that the next index does not have are not served any more', async () => {
  await database.query('CREATE TABLE onchain_1.gone (id int); CREATE TABLE onchain_1._reorg__gone (id int)');
  await serveSchema(database, 'onchain_1');
  const liveViews = async () =>
    (await database.query(`SELECT viewname FROM pg_views WHERE schemaname = 'live'`)).rows.map(
      ({ viewname }) => viewname,
    );
  expect(await liveViews()).toContain('gone');
  expect(await liveViews()).not.toContain('_reorg__gone');
  await serveSchema(database, 'onchain_2');
  expect(await liveViews()).not.toContain('gone');
});

test('the analyst may read what is served', async () => {
  await serveSchema(database, 'onchain_2');
  const client = await database.connect();
  await client.query('BEGIN; SET LOCAL ROLE analyst');
  const { rows } = await client.query('SELECT token0_symbol AS symbol FROM read_model.pool');
  await client.query('ROLLBACK');
  client.release();
  expect(rows).toEqual([{ symbol: 'onchain_2' }]);
});
