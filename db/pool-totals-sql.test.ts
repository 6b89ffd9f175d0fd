import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_PACKED_ACTIVITY } from '../indexer/reducers/activity.ts';
import { addToList } from '../indexer/reducers/number-list.ts';
import { TOTAL, TOTAL_NAMES, totalColumn, totalType } from '../protocol/pool-totals.ts';
import { createDatabase } from '../test/harness/database.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA } from '../test/harness/onchain-tables.ts';
import { openSeeder, seedAddress, seedPools } from '../test/harness/seed-pools.ts';
import { migrate } from './migrate.ts';
import { totalsStatements } from './pool-totals-sql.ts';

let database: IndexedDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createIndexedDatabase();
  client = database.client;
});

afterAll(() => database.drop());

test('places are counted from zero, in order', () => {
  expect(Object.values(TOTAL)).toEqual(TOTAL_NAMES.map((_, place) => place));
});

test('a served index has the totals of the list in the read model', async () => {
  expect(await totalsStatements(client)).toEqual([]);
});

test('a total that is added to the list is shown by the view and by any window, to analysts too', async () => {
  const { db, end } = openSeeder(database.url);
  await seedPools(db, [{ pool: { chainId: 1, address: seedAddress(1) } }]);
  await end();
  const totals = (extra: number) => `{${TOTAL_NAMES.map(() => 0)},${extra}}`;
  await client.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
     VALUES (1, $1, 1, 10, $2), (1, $1, 2, 20, $3)`,
    [seedAddress(1), totals(4), totals(9)],
  );
  const { rows } = await client.query<{ definition: string }>(
    `SELECT pg_get_viewdef('live.pool_activity'::regclass) AS definition`,
  );
  const place = TOTAL_NAMES.length + 1;
  const shown = rows[0]?.definition.replace(/\s+FROM/, `, totals[${place}]::int8 AS new_count FROM`);
  await client.query(`CREATE OR REPLACE VIEW live.pool_activity AS ${shown}`);
  const statements = await totalsStatements(client, [...TOTAL_NAMES, 'newCount']);
  await client.query(`BEGIN; ${statements.join(';')}; COMMIT`);
  await client.query('SET ROLE analyst');
  const newest = await client.query('SELECT new_count FROM read_model.pool_activity ORDER BY block_timestamp DESC');
  const window = await client.query('SELECT new_count, swap_in0_raw FROM read_model.pool_window(10, 20)');
  await client.query('RESET ROLE');
  expect(newest.rows).toEqual([{ new_count: '9' }, { new_count: '4' }]);
  expect(window.rows).toEqual([{ new_count: '5', swap_in0_raw: '0' }]);
});

test('a migration shows the totals of the list, unless the index that serves has others', async () => {
  const fresh = await createDatabase();
  const reader = new pg.Client({ connectionString: fresh.url });
  await reader.connect();
  try {
    await reader.query('CREATE SCHEMA live; CREATE VIEW live.pool_activity AS SELECT 1::int8 AS swap_count');
    await migrate(fresh.url);
    expect(await columnsShown(reader)).not.toContain('sale_bin_fees_high');
    await reader.query('DROP VIEW live.pool_activity');
    await migrate(fresh.url);
    expect(await columnsShown(reader)).toEqual(TOTAL_NAMES.map(totalColumn));
  } finally {
    await reader.end();
    await fresh.drop();
  }
});

/** Columns of totals in the read model. */
async function columnsShown(reader: pg.Client): Promise<string[]> {
  const { rows } = await reader.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = 'read_model.pool_activity'::regclass AND attnum > 4 ORDER BY attnum`,
  );
  return rows.map(({ name }) => name);
}

test('a total that a pool does not have is null in any window, and 0 before anything happened', async () => {
  const { db, end } = openSeeder(database.url);
  await seedPools(db, [{ pool: { chainId: 2, address: seedAddress(1) } }]);
  await end();
  for (const [timestamp, swaps] of [
    [10, 1],
    [20, 3],
  ] as const) {
    const totals = addToList(NO_PACKED_ACTIVITY, [
      [TOTAL.swapCount, BigInt(swaps)],
      [TOTAL.saleBinFeesHigh, 5n],
    ]);
    await client.query(
      `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
       VALUES (2, $1, 1, $2, $3)`,
      [seedAddress(1), timestamp, totals],
    );
  }
  const windowOf = async (from: number, to: number) => {
    const columns = 'swap_count, lp_fee0_scaled, notional_fee1_scaled, sale_bin_fees_high';
    const sql = `SELECT ${columns} FROM read_model.pool_window($1, $2) WHERE chain_id = 2`;
    return (await client.query(sql, [from, to])).rows[0];
  };
  const unknown = { lp_fee0_scaled: null, notional_fee1_scaled: null };
  expect(await windowOf(10, 20)).toEqual({ swap_count: '2', ...unknown, sale_bin_fees_high: '0' });
  expect(await windowOf(0, 20)).toEqual({ swap_count: '3', ...unknown, sale_bin_fees_high: '5' });
  const nothing = { lp_fee0_scaled: '0', notional_fee1_scaled: '0', sale_bin_fees_high: '0' };
  expect(await windowOf(0, 5)).toEqual({ swap_count: '0', ...nothing });
});

/** `npx vitest run db/pool-totals-sql.test.ts -u` writes the document anew. */
test('docs/totals.md is made from the list', async () => {
  const source = await readFile(new URL('../protocol/pool-totals.ts', import.meta.url), 'utf8');
  const documented = [...source.matchAll(/ {2}\/\*\* (.+) \*\/\n {2}(\w+): \d+,/g)].map(([, addsUp, name = '']) => {
    const other = name.replace('0', '1').replace('High', 'Low');
    return { names: [...new Set([name, other])], type: totalType(name), addsUp };
  });
  expect(documented.flatMap(({ names }) => names)).toEqual(TOTAL_NAMES);
  const rows = documented.map(({ names, type, addsUp }) => {
    return `| ${names.map((name) => `\`${totalColumn(name)}\``).join(', ')} | ${type} | ${addsUp} |`;
  });
  await expect(
    [
      '# Running totals',
      '',
      'What [rollups](rollups.md) count of a pool: columns of `pool_activity` and `pool_window`. Made from `protocol/pool-totals.ts`.',
      '',
      '| Column | Type | Adds up |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n'),
  ).toMatchFileSnapshot('../docs/totals.md');
});
