import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { NO_PACKED_ACTIVITY } from '../indexer/reducers/activity.ts';
import { addToList } from '../indexer/schema/number-list.ts';
import { TOTAL, TOTAL_NAMES, totalColumn } from '../protocol/pool-totals.ts';
import { createIndexedDatabase } from '../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { openSeeder, seedAddress, seedPools } from '../test/harness/seed-pools.ts';

/** Postgres type of a total's column: counts are int8, amounts numeric. */
const totalType = (name: string) => (name.endsWith('Count') ? 'int8' : 'numeric');

const database = startedWorld(createIndexedDatabase);
let client: pg.Client;

beforeAll(async () => {
  client = database.client;
});

test('places are counted from zero, in order', () => {
  expect(Object.values(TOTAL)).toEqual(TOTAL_NAMES.map((_, place) => place));
});

test('the read model has the totals of the list, in its order and types', async () => {
  for (const relation of [
    "'read_model.pool_activity'::regclass AND attnum > 4",
    "'read_model.probe'::regclass AND attnum > 2",
  ]) {
    await client.query('CREATE OR REPLACE VIEW read_model.probe AS SELECT * FROM read_model.pool_window(0, 1)');
    const { rows } = await client.query(
      `SELECT attname AS name, atttypid::regtype::text AS type FROM pg_attribute WHERE attrelid = ${relation} ORDER BY attnum`,
    );
    const types = { int8: 'bigint', numeric: 'numeric' };
    expect(rows).toEqual(TOTAL_NAMES.map((name) => ({ name: totalColumn(name), type: types[totalType(name)] })));
  }
  await client.query('DROP VIEW read_model.probe');
});

test('every total is shown by the view and by any window under its name; one that an index does not count is null', async () => {
  const { db, end } = openSeeder(database.url);
  await seedPools(db, [{ pool: { chainId: 1, address: seedAddress(1) } }]);
  await end();
  const early = TOTAL_NAMES.map((_, place) => BigInt(place));
  const late = TOTAL_NAMES.map((_, place) => BigInt(3 * place + 1)).slice(0, -1);
  await client.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
     VALUES (1, $1, 1, 10, $2), (1, $1, 2, 20, $3)`,
    [seedAddress(1), early, late],
  );
  await client.query('SET ROLE analyst');
  const [shown] = (await client.query('SELECT * FROM read_model.pool_activity WHERE block_timestamp = 20')).rows;
  const [window] = (await client.query('SELECT * FROM read_model.pool_window(10, 20) WHERE chain_id = 1')).rows;
  await client.query('RESET ROLE');
  for (const name of TOTAL_NAMES) {
    const isCounted = TOTAL[name] < late.length;
    expect(shown[totalColumn(name)]).toBe(isCounted ? String(late[TOTAL[name]]) : null);
    expect(window[totalColumn(name)]).toBe(isCounted ? String(2 * TOTAL[name] + 1) : null);
  }
});

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

/** `npx vitest run db/pool-totals.test.ts -u` rewrites the document. */
test('docs/use/totals.md is made from the list', async () => {
  const source = await readFile(new URL('../protocol/pool-totals.ts', import.meta.url), 'utf8');
  const documented = [...source.matchAll(/ {2}\/\*\* (.+) \*\/\n {2}(\w+): \d+,/g)].map(([, addsUp, name = '']) => {
    const other = name.replace('0', '1').replace('High', 'Low');
    return { names: [...new Set([name, other])], type: totalType(name), addsUp };
  });
  expect(documented.flatMap(({ names }) => names)).toEqual(TOTAL_NAMES);
  const rows = documented.map(({ names, type, addsUp }) => {
    return `- ${names.map((name) => `\`${totalColumn(name)}\``).join(', ')} (${type}): ${addsUp}`;
  });
  await expect(
    [
      '# Running totals',
      '',
      'For analysts: what [running totals](../build/indexing.md#running-totals) count of a pool, columns of `pool_activity` and `pool_window`. Made from `protocol/pool-totals.ts`.',
      '',
      ...rows,
      '',
    ].join('\n'),
  ).toMatchFileSnapshot('../docs/use/totals.md');
});
