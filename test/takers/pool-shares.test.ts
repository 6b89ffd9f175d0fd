import pg from 'pg';
import { expect, test } from 'vitest';
import { ChainShares } from '../../api/levels/pool-shares.ts';
import { migrate } from '../../db/migrate.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';
import { seedAddress } from '../harness/seed-pools.ts';

const world = openWorld(async (ends) => {
  const database = ends.adopt(await createDatabase(), (each) => each.drop());
  await migrate(database.url);
  const pool = ends.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (each) => each.end());
  return { database: pool };
});

const CHAIN = 7;
const HOUR = 3_600;
/** Half an hour into an hour. */
const NOW = 500_000 * HOUR + HOUR / 2;
const UNKNOWN = { committedShare: null, liveShare: null };

/** Samples of an hour: all, of them those that traded; then the same of live prices. */
async function sample(pool: string, hour: number, counts: readonly [number, number, number, number]): Promise<void> {
  await world.database.query(`SELECT history.keep_partitions('executability_hour', $1, 0)`, [hour]);
  await world.database.query('INSERT INTO history.executability_hour VALUES ($1, $2, $3, $4, $5, $6, $7, $3)', [
    CHAIN,
    pool,
    hour,
    ...counts,
  ]);
}

const openShares = (database: pg.Pool, now: () => number) =>
  new ChainShares({
    chainId: CHAIN,
    database,
    logger: createLogger('test', 'silent'),
    now,
    wallClock: () => NOW * 1_000,
  });

test('shares are those of the samples of this hour and the one before, read once a minute', async () => {
  const [first, second, third] = [1, 2, 3].map((n) => seedAddress(n)) as [`0x${string}`, `0x${string}`, `0x${string}`];
  await sample(first, 500_000 * HOUR, [30, 15, 20, 20]);
  await sample(first, 499_999 * HOUR, [60, 30, 60, 58]);
  await sample(first, 499_998 * HOUR, [60, 60, 60, 0]);
  await sample(second, 500_000 * HOUR, [10, 0, 0, 0]);
  await sample(third, 499_998 * HOUR, [60, 60, 60, 60]);
  let now = 0;
  const { database } = world;
  const shares = openShares(database, () => now);
  await expect.poll(() => shares.of(first), { timeout: 10_000 }).toEqual({ committedShare: 0.5, liveShare: 78 / 80 });
  expect(shares.of(second)).toEqual({ committedShare: 0, liveShare: null });
  expect(shares.of(third)).toEqual(UNKNOWN);
  await database.query('DELETE FROM history.executability_hour WHERE hour_ts = $1', [500_000 * HOUR]);
  now = 59_999;
  expect(shares.of(first)).toEqual({ committedShare: 0.5, liveShare: 78 / 80 });
  now = 60_000;
  shares.of(first);
  await expect.poll(() => shares.of(first), { timeout: 10_000 }).toEqual({ committedShare: 0.5, liveShare: 58 / 60 });
});

test('without the database nothing is known, and what was known is forgotten', async () => {
  let now = 0;
  const closed = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' });
  const shares = openShares(closed, () => now);
  for (now = 0; now < 1_000_000; now += 100_000) expect(shares.of(seedAddress(1))).toEqual(UNKNOWN);
  await closed.end();
});
