import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { recordQuotes } from '../../capture/history/record-quotes.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { swap } from '../../indexer/ponder.schema.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { INTERVALS } from '../bars/intervals.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { BarsPage, type QuoteBar, QuoteBarsPage } from './bars-declaration.ts';
import { DepthPage, type DepthSample } from './depth-declaration.ts';
import { historyResource } from './history.ts';

const [POOL, RECOVERED] = [seedAddress(0x1001), seedAddress(0x1002)];
const DAY = 86_400;
/** A whole number of days. */
const START = 1_794_960_000;
const NOW = START + 9 * DAY + 1_800;
/** Minutes of whole days are dropped, and hours are written up to the last whole one. */
const MINUTES_FROM = START + 2 * DAY;
const FINAL_UNTIL = START + 5 * DAY;
const Q64 = 1n << 64n;

interface Sample {
  readonly ts: number;
  readonly bid: bigint;
  readonly ask: bigint;
}

/** Irregular, over nine days: every fourth minute has a change besides, some hours nothing. */
const SAMPLES: readonly Sample[] = Array.from({ length: 900 }, (_, n) => {
  const bid = 2_000n * Q64 + BigInt((n * 7_919) % 1_009) * 10n ** 17n + BigInt(n % 2);
  const ts = START + n * 864 + ((n * n) % 700);
  const first = { ts: ts - (ts % 60) + (n % 30), bid, ask: bid + 10n ** 18n + BigInt(n % 3) };
  const change = { ts: first.ts + 29, bid: bid - 10n ** 18n, ask: bid + 3n * 10n ** 18n };
  return n % 4 === 0 ? [first, change] : [first];
}).flat();

const listing = startedWorld(openListing);
let app: Hono;

beforeAll(async () => {
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: POOL } }]);
  const { pool: database } = listing;
  const place = {
    blockTimestamp: START + 30,
    blockNumber: 9,
    logIndex: 0,
    transactionHash: `0x${'1'.repeat(64)}`,
  } as const;
  const amounts = { zeroForOne: true, amount0Raw: 10n ** 18n, amount1Raw: -2_000_000_000n };
  await listing.db.insert(swap).values(swapRow({ pool: POOL, ...place, ...amounts }));
  await setIndexedBlock(database, { chainId: CHAIN_A, number: 1_000, timestamp: FINAL_UNTIL + 60, isFinal: true });
  await writeTradeMinutes(database);
  await database.query(
    `SELECT history.keep_partitions('quote_minute', day, 0) FROM generate_series($1::int8, $2::int8, 86400) day`,
    [START, NOW],
  );
  for (const [n, { ts, bid, ask }] of SAMPLES.entries()) {
    await insert(ts, 'healthy', bid, ask, SAMPLES[n - 1]?.ts === ts - 29, depthOf(n));
  }
  // No quotes: one was not read, one the pool did not trade at.
  await insert(START + 7 * DAY + 5, 'feed_down', null, null, true);
  await insert(START + 7 * DAY + 6, 'pool_paused', 1n, 2n, true);
  const deps = { database, chainId: CHAIN_A, pools: async () => [], recordDepth: async () => undefined };
  const kept = HistoryConfig.parse({});
  await recordQuotes({ ...deps, kept }, START + 4 * DAY + 301);
  // Drops the first two days of samples.
  await database.query("SELECT history.keep_partitions('quote_minute', $1, $2)", [NOW, MINUTES_FROM]);
  await recordQuotes({ ...deps, kept }, NOW);
  for (const [token, ts, usd] of [
    [TOKEN1, START + DAY, 0.75],
    [TOKEN1, START + DAY + 5_400, 1.25],
    [TOKEN0, START + DAY, 3_000.5],
  ] as const) {
    await database.query("SELECT history.keep_partitions('fiat_price_hour', $1, 0)", [ts]);
    await database.query('INSERT INTO history.fiat_price_hour VALUES ($1, $2, $3, $4, $5)', [
      CHAIN_A,
      token,
      ts,
      usd,
      'x',
    ]);
  }
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const served = tradedPool(POOL);
  const [token0, token1] = [TOKEN0, TOKEN1].map((address) => ({ ...served.token0, address }));
  if (!token0 || !token1) throw new Error('two tokens');
  const directory = fixedDirectory([{ ...served, token0, token1 }, tradedPool(RECOVERED)]);
  mountHandlers(app, bindRoutes(historyResource, { chains, directory, database, wallClock: Date.now }));
});

type Depth = readonly [string[] | null, string[] | null];
/** Of every third both sides, of others the bids alone, or nothing. */
const depthOf = (n: number): Depth => [
  n % 3 === 2 ? null : [1, 2, 3, 4].map((part) => `${n}${part}${'0'.repeat(30)}`),
  n % 3 === 0 ? [5, 6, 7, 8].map((part) => `${n}${part}`) : null,
];

/** Of every fifth time, the price was in the block that was being built. */
const basisOf = (ts: number) => (ts % 5 === 0 ? 'live' : 'committed');

const insert = (
  ts: number,
  status: string,
  bid: bigint | null,
  ask: bigint | null,
  isChange: boolean,
  depth: Depth = [null, null],
  pool = POOL,
) =>
  listing.pool.query(
    `INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
       bid_depth_raw, ask_depth_raw, basis) VALUES ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [CHAIN_A, pool, ts, status, bid && String(bid), ask && String(ask), isChange, ...depth, basisOf(ts)],
  );

const get = (query: string) => app.request(`/public/v1/evm/${CHAIN_A}/${POOL}/ohlcv?${query}`);
const bars = async (query: string) => QuoteBarsPage.parse(await (await get(query)).json());

async function allPages(query: string): Promise<QuoteBar[]> {
  const paged: QuoteBar[] = [];
  for (let before = ''; ; ) {
    const { data, nextBefore } = await bars(`${query}${before}`);
    paged.push(...data);
    if (nextBefore === null) return paged;
    before = `&before=${nextBefore}`;
  }
}

/** A price as a fraction. */
type Fraction = readonly [bigint, bigint];
const PRICES = {
  bid: ({ bid }: Sample): Fraction => [bid, Q64],
  ask: ({ ask }: Sample): Fraction => [ask, Q64],
  mid: ({ bid, ask }: Sample): Fraction => [bid + ask, 2n * Q64],
};
const flip = ([over, under]: Fraction): Fraction => [under, over];

/** From the samples, one after another: of an hour or more of all, else of those that are kept. */
function expectedBars(secs: number, price: (sample: Sample) => Fraction): QuoteBar[] {
  const known = secs >= 3_600 ? SAMPLES : SAMPLES.filter(({ ts }) => ts >= MINUTES_FROM);
  const shown = ([over, under]: Fraction) => String((over * Q64) / under);
  return [...new Set(known.map(({ ts }) => ts - (ts % secs)))].reverse().map((startTs) => {
    const own = known.filter(({ ts }) => ts >= startTs && ts < startTs + secs).map(price);
    const sorted = own.toSorted(([a, b], [c, d]) => (a * d < c * b ? -1 : a * d > c * b ? 1 : 0));
    const [open, high, low, close] = [own[0], sorted.at(-1), sorted[0], own.at(-1)].map((each) => each && shown(each));
    const prices = { openX64: open ?? null, highX64: high ?? null, lowX64: low ?? null, closeX64: close ?? null };
    return { startTs, ...prices, sampleCount: own.length, final: startTs + secs <= FINAL_UNTIL };
  });
}

test.each(Object.entries(INTERVALS))(
  'bars of %s are those counted from the samples, page by page',
  async (interval, secs) => {
    for (const series of ['bid', 'ask', 'mid'] as const) {
      const query = `interval=${interval}&series=${series}`;
      expect(await allPages(`${query}&limit=300`)).toEqual(expectedBars(secs, PRICES[series]));
    }
    const [{ startTs: second = 0 } = {}] = expectedBars(secs, PRICES.mid).slice(1);
    expect((await bars(`interval=${interval}&series=mid&before=${second}&limit=3`)).data).toEqual(
      expectedBars(secs, PRICES.mid).slice(2, 5),
    );
  },
);

test('inverted, the bid is the inverse of the ask, and high and low are exchanged', async () => {
  const inverses = { bid: 'ask', ask: 'bid', mid: 'mid' } as const;
  for (const series of ['bid', 'ask', 'mid'] as const) {
    const expected = expectedBars(14_400, (sample) => flip(PRICES[inverses[series]](sample)));
    expect(await allPages(`interval=4h&series=${series}&invert=true`)).toEqual(expected);
  }
});

test('with empty intervals every interval between two bars is there', async () => {
  const expected = new Map(expectedBars(300, PRICES.bid).map((bar) => [bar.startTs, bar]));
  const found = await allPages('interval=5m&series=bid&includeEmpty=true&limit=1000');
  const [newest = 0, oldest = 0] = [[...expected.keys()][0], [...expected.keys()].at(-1)];
  expect(found.map(({ startTs }) => startTs)).toEqual(
    Array.from({ length: (newest - oldest) / 300 + 1 }, (_, n) => newest - n * 300),
  );
  for (const bar of found) {
    const { startTs } = bar;
    const nothing = { openX64: null, highX64: null, lowX64: null, closeX64: null, sampleCount: 0 };
    expect(bar).toEqual(expected.get(startTs) ?? { startTs, ...nothing, final: startTs + 300 <= FINAL_UNTIL });
  }
});

test('in US dollars prices are those of the other token when the bar begins, null where that is not known', async () => {
  for (const [query, series, rates] of [
    ['series=bid', PRICES.bid, { 0: [3n, 4n], 3600: [3n, 4n], 7200: [5n, 4n], 10800: [5n, 4n] }],
    ['series=ask&invert=true', (sample: Sample) => flip(PRICES.bid(sample)), { 0: [6_001n, 2n], 3600: [6_001n, 2n] }],
  ] as const) {
    const rateOf = (ts: number) => (rates as Record<number, Fraction>)[ts - START - DAY];
    const tokens = await allPages(`${query}&interval=1h`);
    const exact = expectedBars(3_600, (sample) => {
      const [over, under] = series(sample);
      const [usd, per] = rateOf(sample.ts - (sample.ts % 3_600)) ?? [0n, 1n];
      return [over * usd, under * per];
    });
    const nothing = { openX64: null, highX64: null, lowX64: null, closeX64: null };
    const expected = tokens.map((bar, n) => (rateOf(bar.startTs) ? exact[n] : { ...bar, ...nothing }));
    expect(await allPages(`${query}&interval=1h&currency=usd`)).toEqual(expected);
    expect(expected.filter((bar) => bar?.openX64 !== null).length).toBeGreaterThan(1);
  }
});

test('trades have dollar prices too', async () => {
  const page = async (query: string) => BarsPage.parse(await (await get(query)).json()).data;
  const [bar] = await page('');
  expect(bar?.openX64).toMatch(/^\d+$/);
  const ts = START;
  await listing.pool.query('INSERT INTO history.fiat_price_hour VALUES ($1, $2, $3, $4, $5)', [
    CHAIN_A,
    TOKEN1,
    ts,
    0.5,
    'x',
  ]);
  const half = String(BigInt(bar?.openX64 ?? 0) / 2n);
  expect(await page('currency=usd')).toEqual([{ ...bar, openX64: half, highX64: half, lowX64: half, closeX64: half }]);
  expect(await page('currency=usd&invert=true')).toMatchObject([{ openX64: null, volume0Raw: bar?.volume0Raw }]);
});

async function depthPages(query: string): Promise<DepthSample[]> {
  const paged: DepthSample[] = [];
  for (let before = ''; ; ) {
    const response = await app.request(`/public/v1/evm/${CHAIN_A}/${POOL}/depth_history?${query}${before}`);
    const { data, nextBefore } = DepthPage.parse(await response.json());
    paged.push(...data);
    if (nextBefore === null) return paged;
    before = `&before=${nextBefore}`;
  }
}

const shownDepth = ([bids, asks]: Depth): DepthSample['depth'] =>
  bids || asks
    ? [10, 25, 50, 100].map((bps, n) => ({ bps, bidRaw: bids?.[n] ?? null, askRaw: asks?.[n] ?? null }))
    : null;

test('depth is shown with its sample, page by page, and samples without prices too', async () => {
  const expected = SAMPLES.flatMap(({ ts, bid, ask }, n): DepthSample[] => {
    const prices = { bidX64: String(bid), askX64: String(ask) };
    const place = { ts, blockNumber: ts, status: 'healthy' as const, basis: basisOf(ts) } as const;
    const sample = { ...place, ...prices, depth: shownDepth(depthOf(n)) };
    return ts >= MINUTES_FROM ? [sample] : [];
  });
  const none = { bidX64: null, askX64: null, depth: null };
  const ts = START + 7 * DAY + 5;
  expected.push({ ts, blockNumber: ts, status: 'feed_down', basis: basisOf(ts), ...none });
  const last = { ts: ts + 1, blockNumber: ts + 1, basis: basisOf(ts + 1) } as const;
  expected.push({ ...last, status: 'pool_paused', bidX64: '1', askX64: '2', depth: null });
  expect(new Set(expected.map(({ basis }) => basis))).toEqual(new Set(['live', 'committed']));
  const found = await depthPages('limit=200');
  expect(found).toEqual(expected.toSorted((a, b) => b.ts - a.ts));
});

test('an hour shows its last prices and the last depth of each side', async () => {
  const hours = [...new Set(SAMPLES.map(({ ts }) => ts - (ts % 3_600)))].reverse();
  // Written: whole hours that ended five minutes ago.
  const written = hours.filter((hour) => hour + 3_600 + 300 <= NOW);
  const expected = written.map((hour): DepthSample => {
    const own = SAMPLES.flatMap((sample, n) => (sample.ts - (sample.ts % 3_600) === hour ? [{ ...sample, n }] : []));
    const last = (side: 0 | 1) => own.map(({ n }) => depthOf(n)[side]).findLast((depth) => depth !== null) ?? null;
    const { bid = 0n, ask = 0n } = own.at(-1) ?? {};
    const prices = { bidX64: String(bid), askX64: String(ask) };
    const place = { ts: hour, blockNumber: null, status: 'healthy', basis: null } as const;
    return { ...place, ...prices, depth: shownDepth([last(0), last(1)]) };
  });
  expect(await depthPages('interval=1h&limit=100')).toEqual(expected);
});

test('minutes that a pool began without a price have bars of the prices after it', async () => {
  const path = `/public/v1/evm/${CHAIN_A}/${RECOVERED}/ohlcv?series=bid`;
  const countOf = async (interval: string) =>
    QuoteBarsPage.parse(await (await app.request(`${path}&interval=${interval}`)).json()).data.map((bar) => [
      bar.startTs,
      bar.sampleCount,
    ]);
  const start = START + 9 * DAY + 120;
  await insert(start + 3, 'feed_down', null, null, false, [null, null], RECOVERED);
  await insert(start + 40, 'healthy', 1n, 2n, true, [null, null], RECOVERED);
  expect(await countOf('1m')).toEqual([[start, 1]]);
  expect(await countOf('1d')).toEqual([[START + 9 * DAY, 1]]);
  await insert(start + 62, 'healthy', 1n, 2n, false, [null, null], RECOVERED);
  expect(await countOf('1m')).toEqual([
    [start + 60, 1],
    [start, 1],
  ]);
});

test('a page of final samples alone is kept by caches', async () => {
  const cached = async (query: string) => (await get(query)).headers.get('Cache-Control');
  expect(await cached(`series=mid&before=${FINAL_UNTIL}`)).toBe('public, max-age=3600');
  expect(await cached(`series=mid&before=${FINAL_UNTIL + 3_600}`)).toBeNull();
  expect((await get('series=last')).status).toBe(400);
});
