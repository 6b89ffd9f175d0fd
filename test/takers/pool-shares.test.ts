import fc from 'fast-check';
import pg from 'pg';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { ChainShares } from '../../api/levels/pool-shares.ts';
import { recordQuotes } from '../../capture/history/record-quotes.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';
import { seedAddress } from '../harness/seed-pools.ts';

const world = openWorld(async (ends) => {
  const database = ends.adopt(await createMigratedDatabase(), (each) => each.drop());
  const pool = ends.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (each) => each.end());
  return { database: pool };
});

const CHAIN = 7;
const HOUR = 3_600;
const START = 500_000 * HOUR;
const [FIRST, SECOND] = [seedAddress(1), seedAddress(2)];
const UNKNOWN = { committedShare: null, liveShare: null };

/** What capture read of a pool. */
interface Sample {
  readonly pool: Address;
  /** Unix seconds. */
  readonly at: number;
  readonly status: 'healthy' | 'feed_down' | 'unknown';
  readonly basis: 'committed' | 'live';
  readonly tradesLive: boolean | null;
}

/** Says that these were read, one after the other, and lets capture count each. */
async function count(samples: readonly Sample[]): Promise<void> {
  const { database } = world;
  const pools = async () => [FIRST, SECOND].map((address) => ({ address, isFunded: true, valueUsd: 1 }));
  const kept = HistoryConfig.parse({});
  for (const { pool, at, status, basis, tradesLive } of samples) {
    await database.query(
      `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, basis, trades_live)
       VALUES ($1, $2, $3, $4, $4, now(), $5, $6)
       ON CONFLICT (chain_id, pool) DO UPDATE SET status = excluded.status, block_number = excluded.block_number,
         block_timestamp = excluded.block_timestamp, basis = excluded.basis, trades_live = excluded.trades_live`,
      [CHAIN, pool, status, at, basis, tradesLive],
    );
    await recordQuotes({ database, chainId: CHAIN, pools, kept, recordDepth: async () => undefined }, at);
  }
}

/** The shares of the samples of a pool in the 60 minutes that end with that of a time: the first of each minute. */
function sharesAt(samples: readonly Sample[], of: Address, nowSecs: number) {
  const minuteOf = (at: number) => Math.floor(at / 60);
  const minutes = new Map<number, Sample>();
  for (const sample of samples.filter(({ pool, status }) => pool === of && status !== 'unknown')) {
    const ago = minuteOf(nowSecs) - minuteOf(sample.at);
    if (ago >= 0 && ago < 60 && !minutes.has(ago)) minutes.set(ago, sample);
  }
  const share = (among: readonly Sample[], traded: (sample: Sample) => boolean) =>
    among.length === 0 ? null : expect.closeTo(among.filter(traded).length / among.length, 9);
  const all = [...minutes.values()];
  return {
    committedShare: share(all, ({ status, basis }) => status === 'healthy' && basis === 'committed'),
    liveShare: share(
      all.filter(({ tradesLive }) => tradesLive !== null),
      ({ tradesLive }) => tradesLive === true,
    ),
  };
}

const openShares = (database: pg.Pool, now: () => number, wallClock: () => number) =>
  new ChainShares({ chainId: CHAIN, database, logger: createLogger('test', 'silent'), now, wallClock });

test('shares are those of the samples of the last 60 minutes, to the minute, read once a minute', async () => {
  const random = seededRandom(fc.readConfigureGlobal().seed ?? 0);
  const samples: Sample[] = [];
  // Of the second pool there are samples of the first hour alone; nothing says whether it trades at live prices.
  for (let at = START; at < START + 2.5 * HOUR; at += random.integer(20, 200)) {
    const traded = random.chance(60);
    const common = { at, status: random.chance(10) ? 'unknown' : traded ? 'healthy' : 'feed_down' } as const;
    samples.push({
      ...common,
      pool: FIRST,
      basis: random.chance(30) ? 'live' : 'committed',
      tradesLive: random.chance(20) ? null : random.chance(70),
    });
    if (at < START + HOUR) samples.push({ ...common, pool: SECOND, basis: 'committed', tradesLive: null });
  }
  await count(samples);
  let now = 0;
  let wallSecs = START + 2.5 * HOUR;
  const shares = openShares(
    world.database,
    () => now,
    () => wallSecs * 1_000,
  );
  const expectNow = () =>
    expect
      .poll(() => [shares.of(FIRST), shares.of(SECOND)], { interval: 5 })
      .toEqual([sharesAt(samples, FIRST, wallSecs), sharesAt(samples, SECOND, wallSecs)]);
  await expectNow();
  expect(shares.of(SECOND)).toEqual(UNKNOWN);
  // Nothing is sampled any more: each minute falls out.
  for (let minutes = 1; minutes <= 60; minutes += 1) {
    const before = shares.of(FIRST);
    wallSecs += 60;
    now += 59_999;
    expect(shares.of(FIRST)).toEqual(before);
    now += 1;
    await expectNow();
  }
  expect(shares.of(FIRST)).toEqual(UNKNOWN);
});

test('without the database nothing is known, and what was known is forgotten', async () => {
  let now = 0;
  const closed = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' });
  const shares = openShares(
    closed,
    () => now,
    () => START * 1_000,
  );
  for (now = 0; now < 1_000_000; now += 100_000) expect(shares.of(FIRST)).toEqual(UNKNOWN);
  await closed.end();
});
