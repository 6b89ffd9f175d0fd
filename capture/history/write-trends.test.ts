import fc from 'fast-check';
import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { historyResource } from '../../api/history/history.ts';
import { TrendsPage } from '../../api/history/trends-declaration.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { actAs } from '../../db/process-roles.ts';
import { swap } from '../../indexer/ponder.schema.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { PROPERTY_SEED } from '../../test/harness/property-seed.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { writeTrends } from './write-trends.ts';

/** Twelve minutes into a quarter of an hour. */
const NOW = 1_794_960_720;
const DAY = 86_400;
const FUNDED = Array.from({ length: 90 }, (_, n) => seedAddress(0x1000 + n));
const UNFUNDED = seedAddress(0x2000);
const [ETHER_USD, DOLLAR_USD] = [3_000, 1.001];

/** As often in the first and in the last hour of the steps as in between, or before. */
const anyTs = fc.oneof(
  fc.integer({ min: NOW - DAY - 7_200, max: NOW + 400 }),
  fc.integer({ min: NOW - DAY, max: NOW - DAY + 4_500 }),
  fc.integer({ min: NOW - 4_500, max: NOW + 400 }),
);
const anySample = fc.record({
  ts: anyTs,
  status: fc.constantFrom('healthy', 'healthy', 'feed_down'),
  bid: fc.bigInt(10n ** 23n, 10n ** 24n),
  depths: fc.constantFrom(null, [1n, 2n, 3n, 12_345_678n], [1n, 2n, 3n, 987_654_321n]),
});
const anyTrade = fc.record({
  ts: anyTs.map((ts) => Math.min(ts, NOW)),
  out: fc.oneof(fc.constant(0n), fc.bigInt(10n ** 9n, 10n ** 12n)),
});
const anyPool = fc.record({
  samples: fc.uniqueArray(anySample, { maxLength: 7, selector: ({ ts }) => ts }),
  trades: fc.uniqueArray(anyTrade, { maxLength: 5, selector: ({ ts }) => ts }),
});
const plans = fc.sample(anyPool, { numRuns: FUNDED.length, seed: PROPERTY_SEED });

const listing = startedWorld(openListing);
let app: Hono;
/** With the rights of the process alone. */
let capture: pg.Pool;

beforeAll(async () => {
  const { pool: database, db } = listing;
  capture = new pg.Pool({ connectionString: actAs(listing.url, 'ptd_capture'), max: 1 });
  capture.on('error', () => undefined); // Dropping the database ends its sessions.
  await seedToken(db, { chainId: CHAIN_A, address: TOKEN0, decimals: 18 });
  await seedToken(db, { chainId: CHAIN_A, address: TOKEN1, decimals: 6 });
  const row = (address: (typeof FUNDED)[number]) => ({ chainId: CHAIN_A, address, token1ScaleMultiplier: 10n ** 12n });
  await seedPools(
    db,
    [...FUNDED, UNFUNDED].map((address) => ({ pool: row(address) })),
  );
  const prices = [CHAIN_A, TOKEN0, ETHER_USD, TOKEN1, DOLLAR_USD];
  await database.query('INSERT INTO operator.listing_price VALUES ($1, $2, $3), ($1, $4, $5)', prices);
  await database.query(
    `SELECT history.keep_partitions('quote_minute', day, 0) FROM generate_series($1::int8, $2::int8, 86400) day`,
    [NOW - 2 * DAY, NOW],
  );
  for (const pool of [...FUNDED, UNFUNDED]) {
    await database.query(
      `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, is_funded)
       VALUES ($1, $2, 'healthy', 1, 1, now(), $3)`,
      [CHAIN_A, pool, pool !== UNFUNDED],
    );
  }
  let block = 0;
  for (const [n, { samples, trades }] of plans.entries()) {
    for (const sample of samples) await addSample(FUNDED[n] as string, sample);
    for (const { ts, out } of trades) {
      block += 1;
      const place = { blockNumber: block, blockTimestamp: ts, logIndex: 0 };
      const transactionHash = `0x${String(block).padStart(64, '0')}` as const;
      const moved = { zeroForOne: true, amount0Raw: 10n ** 18n, amount1Raw: -out };
      await db.insert(swap).values(swapRow({ pool: FUNDED[n] as `0x${string}`, ...place, transactionHash, ...moved }));
    }
  }
  await addSample(UNFUNDED, { ts: NOW - DAY / 2, status: 'healthy', bid: 1n, depths: null });
  await addSample(UNFUNDED, { ts: NOW, status: 'healthy', bid: 2n, depths: null });
  const index = (timestamp: number) => setIndexedBlock(database, { chainId: CHAIN_A, number: 1_000, timestamp });
  // All trades are final, and a minute older than the index.
  await index(NOW + 120);
  await writeTradeMinutes(database);
  await index(NOW);
  app = new Hono();
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const directory = fixedDirectory(FUNDED.map((address) => tradedPool(address)));
  mountHandlers(app, bindRoutes(historyResource, { chains, directory, database, wallClock: Date.now }));
});

afterAll(() => capture?.end());

type Sample = typeof anySample extends fc.Arbitrary<infer S> ? S : never;

const addSample = (pool: string, { ts, status, bid, depths }: Sample) =>
  listing.pool.query(
    `INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
       bid_depth_raw, ask_depth_raw) VALUES ($1, $2, $3, 1, $4, $5, $6, false, $7, $8)`,
    [
      CHAIN_A,
      pool,
      ts,
      status,
      status === 'healthy' ? String(bid) : null,
      status === 'healthy' ? String(bid + 1_001n) : null,
      depths?.map(String),
      depths?.map((depth) => String(depth * 10n ** 10n)),
    ],
  );

const stored = async () =>
  (
    await listing.pool.query<{ pool: string; change: number | null; depth: number | null }>(
      'SELECT pool, change_e6 AS change, depth_fiat AS depth FROM operator.pool_trend ORDER BY pool',
    )
  ).rows;

const [STEP, STEPS] = [900, 96];
const FROM = NOW - (NOW % STEP) - (STEPS - 1) * STEP;
const newestBetween = <T extends { readonly ts: number }>(all: readonly T[], from: number, to: number) =>
  all.filter(({ ts }) => ts >= from && ts < to).toSorted((a, b) => b.ts - a.ts)[0];

/** The price at the end of a step, from what was stored: the middle of a quote, or else the price of a trade. */
function priceOf({ samples, trades }: (typeof plans)[number], step: number): bigint | null {
  const between = [FROM + step * STEP, FROM + (step + 1) * STEP] as const;
  const sample = newestBetween(
    samples.filter(({ status }) => status === 'healthy'),
    ...between,
  );
  if (sample) return (2n * sample.bid + 1_001n) / 2n;
  const trade = newestBetween(
    trades.filter(({ out }) => out > 0n),
    ...between,
  );
  return trade ? (trade.out * 10n ** 12n * 2n ** 64n) / 10n ** 18n : null;
}

function trendOf(plan: (typeof plans)[number]) {
  const prices = Array.from({ length: STEPS }, (_, step) => priceOf(plan, step));
  const known = prices.filter((price) => price !== null);
  const [first = 0n] = known;
  const changes = prices.map((price) => (price === null ? null : Number(((price - first) * 1_000_000n) / first)));
  const depths = newestBetween(
    plan.samples.filter((sample) => sample.depths),
    FROM,
    Number.POSITIVE_INFINITY,
  )?.depths;
  return { changes, change: known.length < 2 ? null : changes.findLast((each) => each !== null), depth: depths?.[3] };
}

test('stored trends and those of /trends are the prices of the stored quotes and trades', async () => {
  // Of a pool that is no longer funded, and of another chain.
  await listing.pool.query(
    `INSERT INTO operator.pool_trend VALUES (${CHAIN_A}, '${UNFUNDED}', 1, 1), (${CHAIN_B}, '${FUNDED[0]}', 2, 2)`,
  );
  await writeTrends(capture, CHAIN_A);
  const trends = plans.map(trendOf);
  const expected = trends.map(({ change, depth }, n) => {
    const usd = depth && (Number(depth) / 1e6) * DOLLAR_USD + (Number(depth * 10n ** 10n) / 1e18) * ETHER_USD;
    return { pool: FUNDED[n], change, depth: usd ? expect.closeTo(usd, 6) : null };
  });
  const rows = await stored();
  expect(rows.filter(({ pool }) => pool !== FUNDED[0])).toEqual(expected.slice(1));
  expect(rows.filter(({ pool }) => pool === FUNDED[0])).toEqual(
    expect.arrayContaining([expected[0], { pool: FUNDED[0], change: 2, depth: 2 }]),
  );
  const response = await app.request(`/public/v1/evm/${CHAIN_A}/trends?addresses=${FUNDED.join()}`);
  expect(TrendsPage.parse(await response.json()).data).toEqual(
    trends.map(({ changes, depth = null }, n) => ({
      poolAddress: FUNDED[n],
      changesE6: changes,
      depth: depth && { bps: 100, bidRaw: String(depth), askRaw: String(depth * 10n ** 10n) },
    })),
  );
  // The plans are no use without many of each kind.
  expect(expected.filter(({ change }) => change !== null).length).toBeGreaterThan(40);
  expect(expected.filter(({ change }) => change === null).length).toBeGreaterThan(0);
  expect(expected.filter(({ depth }) => depth !== null).length).toBeGreaterThan(20);
});

test('a later write replaces what is stored', async () => {
  await writeTrends(capture, CHAIN_A);
  const before = await stored();
  await addSample(FUNDED[0] as string, { ts: NOW - 1, status: 'healthy', bid: 10n ** 30n, depths: null });
  await addSample(FUNDED[0] as string, { ts: NOW - DAY + 900, status: 'healthy', bid: 10n ** 29n, depths: null });
  await writeTrends(capture, CHAIN_A);
  const after = await stored();
  expect(after).toHaveLength(before.length);
  expect(after).not.toEqual(before);
});
