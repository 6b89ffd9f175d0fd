import { beforeAll, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { createOnchainTables } from '../../test/harness/onchain-tables.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { SealedCounts } from './record-sealed.ts';

const CHAIN = 8_453;
const HOUR = 3_600;
const POOLS = [1, 2, 3].map((n) => seedAddress(n));
/** No sample of it is kept. */
const UNFUNDED = seedAddress(4);
const FIRST_HOUR = 500_000 * HOUR;

const home = migratedDatabase();

beforeAll(() => createOnchainTables(home.pool));

beforeEach(() => home.pool.query('TRUNCATE history.executability_hour'));

/** Keeps a sample of an hour, as capture does once a minute. */
async function keepSample(hour: number): Promise<void> {
  await home.pool.query(`SELECT history.keep_partitions('executability_hour', $1, 0)`, [hour]);
  await home.pool.query(
    'INSERT INTO history.executability_hour (chain_id, pool, hour_ts, sample_count, committed_count, live_sample_count, live_count, last_ts) SELECT $1, unnest($2::text[]), $3, 1, 1, 0, 0, $3',
    [CHAIN, POOLS, hour],
  );
}

async function shareOf(pool: string, fromTs: number, toTs: number): Promise<number | null> {
  const { rows } = await home.pool.query<{ sealed_share: number | null }>(
    'SELECT sealed_share FROM read_model.executability($1, $2, $3, $4)',
    [CHAIN, pool, fromTs, toTs],
  );
  return rows[0]?.sealed_share ?? null;
}

test('the share of a pool is that of the blocks in which it was the same, hour by hour', async () => {
  const random = seededRandom(5);
  const counts = new SealedCounts();
  const all: { pool: string; ts: number; isSame: boolean }[] = [];
  for (const hour of [FIRST_HOUR, FIRST_HOUR + HOUR]) {
    for (let block = 0; block < 40; block += 1) {
      const ts = hour + block * 90;
      // The first sample of an hour comes after some blocks of it.
      if (block === 10) await keepSample(hour);
      const compared = [...POOLS, UNFUNDED].filter(() => random.chance(70));
      const same = compared.filter(() => random.chance(80));
      const different = compared.filter((pool) => !same.includes(pool));
      counts.take({ blockNumber: BigInt(block), timestamp: BigInt(ts), same, different });
      all.push(...compared.map((pool) => ({ pool, ts, isSame: same.includes(pool) })));
      if (random.chance(30)) await counts.store(home.pool, CHAIN);
    }
  }
  await counts.store(home.pool, CHAIN);
  for (const pool of POOLS) {
    for (const [fromTs, toTs] of [
      [FIRST_HOUR, FIRST_HOUR + HOUR],
      [FIRST_HOUR + HOUR, FIRST_HOUR + 2 * HOUR],
      [FIRST_HOUR, FIRST_HOUR + 2 * HOUR],
    ] as const) {
      const own = all.filter((each) => each.pool === pool && each.ts >= fromTs && each.ts < toTs);
      expect(await shareOf(pool, fromTs, toTs)).toBeCloseTo(own.filter(({ isSame }) => isSame).length / own.length, 12);
    }
  }
  expect(await shareOf(UNFUNDED, FIRST_HOUR, FIRST_HOUR + 2 * HOUR)).toBeNull();
});

test('nothing is lost when the database fails, and nothing is kept for long', async () => {
  const counts = new SealedCounts();
  const [pool] = POOLS as [ReturnType<typeof seedAddress>];
  counts.take({ blockNumber: 1n, timestamp: BigInt(FIRST_HOUR), same: [pool], different: [] });
  const failing = { query: () => Promise.reject(new Error('the database is gone')) };
  await expect(counts.store(failing as never, CHAIN)).rejects.toThrow('the database is gone');
  await keepSample(FIRST_HOUR);
  await counts.store(home.pool, CHAIN);
  expect(await shareOf(pool, FIRST_HOUR, FIRST_HOUR + HOUR)).toBe(1);

  const late = FIRST_HOUR + 5 * HOUR;
  counts.take({ blockNumber: 2n, timestamp: BigInt(late), same: [], different: [pool] });
  counts.take({ blockNumber: 9n, timestamp: BigInt(late + 2 * HOUR), same: [pool], different: [] });
  await counts.store(home.pool, CHAIN);
  for (const hour of [late, late + 2 * HOUR]) await keepSample(hour);
  await counts.store(home.pool, CHAIN);
  expect(await shareOf(pool, late, late + 3 * HOUR)).toBe(1);
});
