import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { openSeeder, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';

const [CHAIN, POOL, START, DAY] = [5, seedAddress(1), 1_800_057_600, 86_400];
/** A page has two of these days. Each has a compared swap of its pool every four hours, and of another every minute. */
const [DAYS, OWN_OF_DAY] = [20, 6];

const database = startedWorld(createIndexedDatabase);

interface Step {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

const rowsRead = (step: Step, table: string): number =>
  (step['Relation Name'] === table
    ? (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
    : 0) + (step.Plans ?? []).reduce((sum, part) => sum + rowsRead(part, table), 0);

test('a page of days reads the swaps of its days alone, however many were ever compared', async () => {
  const { client, url } = database;
  const seeder = openSeeder(url);
  await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN0, decimals: 18 });
  await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN1, decimals: 6 });
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN, address: POOL } }]);
  await seeder.end();
  await setIndexedBlock(client, { chainId: CHAIN, number: 1e6, timestamp: START + (DAYS + 1) * DAY, isFinal: true });
  await client.query(`
    CREATE TEMP TABLE traded AS
      SELECT n, ${START} + n * 60 AS ts, CASE WHEN n % 240 = 0 THEN '${POOL}' ELSE '${seedAddress(2)}' END AS pool
      FROM generate_series(0, ${DAYS} * 1440 - 1) n;
    INSERT INTO ${ONCHAIN_SCHEMA}.swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender,
        recipient, transaction_from, transaction_index, zero_for_one, exact_input, amount0_raw, amount1_raw, parts)
      SELECT ${CHAIN}, n, ts, 0, '0x', pool, '0x', '0x', '0x', 0, true, true, 1000, -999, '{}' FROM traded;
    INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
      SELECT ${CHAIN}, pool, n, ts, array_fill(n::numeric, ARRAY[29]) FROM traded;
    INSERT INTO history.fill SELECT ${CHAIN}, n, 0, '0x', pool, ts, true, 1000, '0x', true, 999 FROM traded;
    INSERT INTO history.trade_bar (index_schema, chain_id, pool, secs, start_ts, volume0_raw, volume1_raw, swap_count)
      SELECT '${ONCHAIN_SCHEMA}', ${CHAIN}, pool, ${DAY}, ts - ts % ${DAY}, 0, 0, count(*) FROM traded GROUP BY 3, 5;
    ANALYZE history.fill; ANALYZE history.trade_bar; ANALYZE ${ONCHAIN_SCHEMA}.swap; ANALYZE ${ONCHAIN_SCHEMA}.pool_activity`);
  const sql = await readFile(new URL('select-days.sql', import.meta.url), 'utf8');
  const values = [CHAIN, POOL, START + DAYS * DAY, 2];
  const { rows: days } = await client.query(sql, values);
  expect(days.map(({ fillQuality }) => fillQuality.comparedCount)).toEqual([OWN_OF_DAY, OWN_OF_DAY]);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values);
  const plan: Step = rows[0]['QUERY PLAN'][0].Plan;
  expect(rowsRead(plan, 'fill')).toBe(2 * OWN_OF_DAY);
  // Also for the senders of each day.
  expect(rowsRead(plan, 'swap')).toBe(2 * 2 * OWN_OF_DAY);
});
