import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMigratedDatabase } from '../test/harness/database.ts';
import { createOnchainTables, publishLiveViews, setIndexedBlock } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { publicQueries } from '../test/harness/public-queries.ts';

const database = startedWorld(createMigratedDatabase);
let client: pg.Client;
let views: readonly string[];

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await createOnchainTables(client);
  const { rows } = await client.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'read_model' ORDER BY 1",
  );
  views = rows.map(({ name }) => name);
});

afterAll(() => client.end());

test('every view answers, before and after the indexer moves to another schema', async () => {
  expect(views).toContain('swap');
  for (const view of views) await client.query(`SELECT * FROM read_model.${view}`);
  await createOnchainTables(client, 'onchain_next');
  await client.query(`INSERT INTO onchain_next.token VALUES (1, '0xaa', 'NEXT', null, 6, 1, 1)`);
  const { rows } = await client.query('SELECT symbol FROM read_model.token');
  expect(rows).toEqual([{ symbol: 'NEXT' }]);
  await publishLiveViews(client);
  for (const view of views) await client.query(`SELECT * FROM read_model.${view}`);
});

test('prices and depths at which nobody can trade are null', async () => {
  await client.query(`
    SELECT history.keep_partitions('quote_minute', 1800000000, 0);
    INSERT INTO history.quote_minute SELECT 1, '0x' || repeat(n::text, 40), 1800000000, 7, status, 5, 6, false, '{1,2,3,4}', '{5,6,7,8}'
      FROM (VALUES (1, 'healthy'), (2, 'feed_down'), (3, 'pool_paused')) s (n, status);
    INSERT INTO operator.price_health (chain_id, pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at)
      SELECT chain_id, pool, status, bid_x64, ask_x64, 7, 7, now() FROM history.quote_minute`);
  const prices = 'bid_x64, mid_x64, ask_x64, bid_depth_10bps_raw, ask_depth_100bps_raw';
  const { rows } = await client.query({
    text: `SELECT status, ${prices}, sell_price_x64, buy_price_x64
      FROM read_model.quote_sample JOIN read_model.price_health USING (chain_id, pool, status) ORDER BY pool`,
    rowMode: 'array',
  });
  expect(rows).toEqual([
    ['healthy', '5', '5.5', '6', '1', '8', '5', '6'],
    ['feed_down', ...Array(7).fill(null)],
    ['pool_paused', ...Array(7).fill(null)],
  ]);
  await client.query('DELETE FROM history.quote_minute; DELETE FROM operator.price_health');
});

test('conditions reach the indexes of the tables under the views', async () => {
  await client.query('SET enable_seqscan = off');
  const plans = [
    "SELECT * FROM read_model.swap WHERE chain_id = 1 AND pool = '0xaa' AND block_timestamp > 5",
    "SELECT * FROM read_model.pool WHERE chain_id = 1 AND address = '0xaa'",
    "SELECT * FROM read_model.pool_state WHERE chain_id = 1 AND pool = '0xaa'",
    "SELECT * FROM read_model.pool_bin WHERE chain_id = 1 AND pool = '0xaa'",
    "SELECT * FROM read_model.bin_swap WHERE chain_id = 1 AND pool = '0xaa' AND block_timestamp > 5",
    "SELECT * FROM read_model.dex_trades WHERE chain_id = 1 AND project_contract_address = '0xaa' AND block_timestamp > 5",
    "SELECT * FROM read_model.packed_swaps() WHERE chain_id = 1 AND pool = '0xaa' AND block_timestamp > 5",
    "SELECT * FROM read_model.packed_bin_swaps() WHERE chain_id = 1 AND pool = '0xaa' AND block_timestamp > 5",
    "SELECT * FROM read_model.packed_bins() WHERE chain_id = 1 AND pool = '0xaa'",
    "SELECT * FROM read_model.price_provider WHERE chain_id = 1 AND address = '0xaa'",
  ];
  for (const query of plans) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${query}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan/);
    // What is taken out of lists comes from a function of Postgres's own; ours are to be inlined.
    expect(plan).not.toMatch(/Seq Scan|Function Scan on (\w+_rows|packed_\w+)/);
  }
  await client.query('RESET enable_seqscan');
});

test.each(['pools', 'bins', 'swaps', 'bin_swaps', 'stop_losses'])('packed_%s() answers', async (name) => {
  await client.query('SET ROLE analyst');
  const { rows } = await client.query(`SELECT * FROM read_model.packed_${name}()`);
  await client.query('RESET ROLE');
  expect(rows).toEqual([]);
});

test('the indexed block is read out of the checkpoint', async () => {
  await setIndexedBlock(client, { chainId: 31337, number: 1234, timestamp: 1_790_000_000 });
  const { rows } = await client.query('SELECT * FROM read_model.indexed_block');
  expect(rows).toEqual([{ chain_id: '31337', block_number: '1234', block_timestamp: '1790000000' }]);
});

test('an analyst reads every view and no operator table, also after a switch, and writes nothing', async () => {
  await publishLiveViews(client);
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'operator'",
  );
  expect(tables.map(({ name }) => name)).toContain('api_key');
  await client.query('SET ROLE analyst');
  try {
    for (const view of views) await client.query(`SELECT * FROM read_model.${view}`);
    const rejected = [
      ...tables.map(({ name }) => `SELECT FROM operator.${name}`),
      ...['read_model.curator', 'read_model.delisted_pool', 'live.swap'].map((name) => `DELETE FROM ${name}`),
      ...['read_model', 'live', 'public'].map((schema) => `CREATE TABLE ${schema}.own ()`),
    ];
    for (const statement of rejected) await expect(client.query(statement)).rejects.toThrow('permission denied');
  } finally {
    await client.query('RESET ROLE');
  }
});

describe('docs/use/sql.md', () => {
  const document = readFileSync(new URL('../docs/use/sql.md', import.meta.url), 'utf8');
  const sections = new Map(
    document.split('\n### ').map((section) => [/^`(\w+)`/.exec(section)?.[1] ?? '', section.split('\n## ')[0] ?? '']),
  );

  test('names every view and each of its columns', async () => {
    const { rows } = await client.query<{ view: string; column: string }>(
      `SELECT table_name AS view, column_name AS column FROM information_schema.columns WHERE table_schema = 'read_model'`,
    );
    const totals = readFileSync(new URL('../docs/use/totals.md', import.meta.url), 'utf8');
    sections.set('pool_activity', `${sections.get('pool_activity')}${totals}`);
    const missing = rows.filter(({ view, column }) => !sections.get(view)?.includes(`\`${column}\``));
    expect(missing).toEqual([]);
  });

  test('has examples that run, as an analyst', async () => {
    const inPage = [...document.matchAll(/```sql\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    const examples = [...inPage, ...publicQueries('dex-trades'), ...publicQueries('pool-yields')];
    expect(examples.length).toBeGreaterThanOrEqual(10);
    await client.query('SET ROLE analyst');
    try {
      for (const example of examples) await client.query(example);
    } finally {
      await client.query('RESET ROLE');
    }
  });
});
