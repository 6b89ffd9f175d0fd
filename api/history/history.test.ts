import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { poolActivity, swap } from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { TOTAL, TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { INTERVALS } from '../bars/intervals.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { BarsPage, type TradeBar } from './bars-declaration.ts';
import { DaysPage, type PoolDay } from './days-declaration.ts';
import { historyResource } from './history.ts';

const [POOL, QUIET, OTHER] = [seedAddress(0x1001), seedAddress(0x1002), seedAddress(0x1003)];
const [BUSY, GIFTED] = [seedAddress(0x1004), seedAddress(0x1005)];
/** A whole number of days. */
const START = 1_794_960_000;
const FINAL_UNTIL = START + 13 * 3_600 + 120;
const MULTIPLIER1 = 10n ** 12n;
const Q64 = 1n << 64n;

const listing = startedWorld(openListing);
let app: Hono;

/** Over two days, with quiet hours between; every seventh moved nothing of token1. */
const TRADES = Array.from({ length: 60 }, (_, n) => ({
  ts: START + Math.floor((n * n * 48 * 3_600) / 3_600) + (n % 3),
  block: 100 + n,
  amount0: 10n ** 18n + BigInt(n) * 10n ** 15n,
  amount1: n % 7 === 0 ? 0n : 2_000_000_000n + BigInt((n * 7_919) % 97) * 1_000_003n,
  isSale: n % 2 === 0,
}));

const rowOf = ({ ts, block, amount0, amount1, isSale }: (typeof TRADES)[number], pool = POOL) =>
  swapRow({
    pool,
    blockNumber: block,
    blockTimestamp: ts,
    logIndex: pool === POOL ? 0 : 1,
    transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
    zeroForOne: isSale,
    amount0Raw: isSale ? amount0 : -amount0,
    amount1Raw: isSale ? -amount1 : amount1,
  });

beforeAll(async () => {
  await seedPools(
    listing.db,
    [POOL, QUIET, OTHER, BUSY, GIFTED].map((address) => ({ pool: { chainId: CHAIN_A, address } })),
  );
  await listing.db.insert(swap).values(TRADES.flatMap((trade) => [rowOf(trade), rowOf(trade, OTHER)]));
  await setIndexedBlock(listing.pool, { chainId: CHAIN_A, number: 1_000, timestamp: FINAL_UNTIL + 60, isFinal: true });
  await writeTradeMinutes(listing.pool);
  await recordTotals();
  await compareFills();
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const deps = {
    chains,
    directory: fixedDirectory([POOL, QUIET, BUSY, GIFTED].map(tradedPool)),
    database: listing.pool,
    wallClock: Date.now,
  };
  mountHandlers(app, bindRoutes(historyResource, deps));
});

const DAY = 86_400;
const DAY_STARTS = [START + DAY, START];
const inDay = (startTs: number) => TRADES.filter(({ ts }) => ts >= startTs && ts < startTs + DAY);
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);
/** Liquidity before the first trade. */
const DEPOSIT = 10n ** 21n;

/** The running totals of the pool after each trade, as the indexer keeps them. */
async function recordTotals(): Promise<void> {
  await listing.db.insert(poolActivity).values(
    TRADES.map(({ block, ts }, n) => {
      const until = TRADES.slice(0, n + 1);
      const sold = until.filter(({ isSale }) => isSale);
      const bought = until.filter(({ isSale }) => !isSale);
      const counted: Partial<Record<TotalName, bigint>> = {
        swapCount: BigInt(until.length),
        swapTxCount: BigInt(until.length),
        swapIn0Raw: sum(sold.map(({ amount0 }) => amount0)),
        swapOut1Raw: sum(sold.map(({ amount1 }) => amount1)),
        swapIn1Raw: sum(bought.map(({ amount1 }) => amount1)),
        swapOut0Raw: sum(bought.map(({ amount0 }) => amount0)),
        liquidityIn0Raw: DEPOSIT,
        liquidityIn1Raw: DEPOSIT,
      };
      const totals = arrayLiteral(
        TOTAL_NAMES.toSorted((a, b) => TOTAL[a] - TOTAL[b]).map((name) => counted[name] ?? 0n),
      );
      return { chainId: CHAIN_A, pool: POOL, blockNumber: block, blockTimestamp: ts, totals };
    }),
  );
}

/** What the pool quoted for the first trades: as much as they got, and a thousandth more. */
const COMPARED = [2, 4, 6].map((n, index) => ({ trade: TRADES[n], morePerMille: BigInt(index % 2) }));

async function compareFills(): Promise<void> {
  for (const { trade, morePerMille } of COMPARED) {
    if (!trade) throw new Error('no trade');
    const { block, ts, amount0, amount1 } = trade;
    const key = [CHAIN_A, block, 0, rowOf(trade).transactionHash, POOL, ts];
    const quoted = amount1 + (amount1 * morePerMille) / 1_000n;
    await listing.pool.query(
      `INSERT INTO history.fill (chain_id, block_number, log_index, transaction_hash, pool, block_timestamp, zero_for_one,
         in_raw, parent_hash, is_final, quoted_out_raw) VALUES ($1, $2, $3, $4, $5, $6, true, $7, '0x', true, $8)`,
      [...key, String(amount0), String(quoted)],
    );
  }
}

const get = (query: string, pool: string = POOL) => app.request(`/public/v1/evm/${CHAIN_A}/${pool}/${query}`);
const bars = async (query: string, pool: string = POOL) =>
  BarsPage.parse(await (await get(`ohlcv?${query}`, pool)).json());

/** Bars from the list of trades, one after another; compared as fractions, shown as the contract says. */
function expectedBars(secs: number, invert: boolean): TradeBar[] {
  const starts = [...new Set(TRADES.map(({ ts }) => ts - (ts % secs)))].sort((one, other) => other - one);
  return starts.map((startTs) => {
    const own = TRADES.filter(({ ts }) => ts >= startTs && ts < startTs + secs);
    const priced = own
      .filter(({ amount1 }) => amount1 > 0n)
      .map(({ amount0, amount1 }) => [amount1 * MULTIPLIER1, amount0] as const)
      .map(([one, zero]) => (invert ? ([zero, one] as const) : ([one, zero] as const)));
    const sorted = priced.toSorted(([a, b], [c, d]) => (a * d < c * b ? -1 : a * d > c * b ? 1 : 0));
    const shown = (price: readonly [bigint, bigint] | undefined) =>
      price ? ((price[0] * Q64) / price[1]).toString() : null;
    return {
      startTs,
      openX64: shown(priced[0]),
      highX64: shown(sorted.at(-1)),
      lowX64: shown(sorted[0]),
      closeX64: shown(priced.at(-1)),
      volume0Raw: sum(own.map(({ amount0 }) => amount0)).toString(),
      volume1Raw: sum(own.map(({ amount1 }) => amount1)).toString(),
      // No price was known; an input of nothing needs none.
      volumeUsd: own.every(({ isSale, amount1 }) => !isSale && amount1 === 0n) ? 0 : null,
      swapCount: own.length,
      final: startTs + secs <= FINAL_UNTIL - (FINAL_UNTIL % 60),
    };
  });
}

test.each(Object.entries(INTERVALS))('bars of %s are those counted by hand, page by page', async (interval, secs) => {
  for (const invert of [false, true]) {
    const expected = expectedBars(secs, invert);
    expect((await bars(`interval=${interval}&invert=${invert}`)).data).toEqual(expected);
    const paged: TradeBar[] = [];
    for (let before = ''; ; ) {
      const { data, nextBefore } = await bars(`interval=${interval}&invert=${invert}&limit=7${before}`);
      paged.push(...data);
      if (nextBefore === null) break;
      before = `&before=${nextBefore}`;
    }
    expect(paged).toEqual(expected);
  }
});

test('an hour is the default, `before` leaves out bars that start then or later', async () => {
  const expected = expectedBars(3_600, false);
  const third = expected[2]?.startTs ?? 0;
  expect((await bars('')).data).toEqual(expected);
  expect((await bars(`before=${third}`)).data).toEqual(expected.slice(3));
  expect((await bars(`before=${third + 1}`)).data).toEqual(expected.slice(2));
});

test('with empty intervals every interval between two bars is there, also across pages', async () => {
  const filled = expectedBars(3_600, false);
  const byStart = new Map(filled.map((bar) => [bar.startTs, bar]));
  const [newest = 0, oldest = 0] = [filled[0]?.startTs, filled.at(-1)?.startTs];
  const paged: TradeBar[] = [];
  for (let before = ''; ; ) {
    const { data, nextBefore } = await bars(`includeEmpty=true&limit=5${before}`);
    paged.push(...data);
    if (nextBefore === null) break;
    before = `&before=${nextBefore}`;
  }
  expect(paged.map(({ startTs }) => startTs)).toEqual(
    Array.from({ length: (newest - oldest) / 3_600 + 1 }, (_, n) => newest - n * 3_600),
  );
  for (const bar of paged) {
    if (byStart.has(bar.startTs)) expect(bar).toEqual(byStart.get(bar.startTs));
    else expect(bar).toMatchObject({ openX64: null, closeX64: null, volume0Raw: '0', swapCount: 0, volumeUsd: 0 });
  }
});

test('caches keep a page that cannot change, and no other', async () => {
  const cached = async (query: string) => (await get(`ohlcv?${query}`)).headers.get('Cache-Control');
  expect(await cached(`before=${START + 13 * 3_600}`)).toBe('public, max-age=3600');
  expect(await cached(`before=${START + 14 * 3_600}`)).toBeNull();
  expect(await cached('')).toBeNull();
});

test('days are those counted by hand, page by page, with what compared trades got', async () => {
  const days = async (query: string) => DaysPage.parse(await (await get(`days?${query}`)).json());
  const signed = (end: number) => TRADES.filter(({ ts }) => ts < end).map((trade) => rowOf(trade));
  const expected = DAY_STARTS.map((dayTs): PoolDay => {
    const own = inDay(dayTs);
    const balances = [
      (DEPOSIT + sum(signed(dayTs + DAY).map(({ amount0Raw }) => BigInt(amount0Raw)))).toString(),
      (DEPOSIT + sum(signed(dayTs + DAY).map(({ amount1Raw }) => BigInt(amount1Raw)))).toString(),
    ] as const;
    // Without fees, all of it is the liquidity providers'; no price was known.
    const unknown = { lpFeesUsd: null, tvlUsd: null, lpReturn: null };
    return {
      ...unknown,
      lpFee0Raw: '0',
      lpFee1Raw: '0',
      tvl0Raw: balances[0],
      tvl1Raw: balances[1],
      dayTs,
      swapCount: own.length,
      senderCount: 1,
      volume0Raw: sum(own.map(({ amount0 }) => amount0)).toString(),
      volume1Raw: sum(own.map(({ amount1 }) => amount1)).toString(),
      volumeUsd: null,
      balance0Raw: balances[0],
      balance1Raw: balances[1],
      fillQuality: null,
      executability: { committedShare: null, liveShare: null, ownLandedShare: null, sealedShare: null },
      persistence: [],
      final: false,
    };
  });
  const { data, nextBefore } = await days('');
  const [newest, oldest] = data;
  expect(nextBefore).toBeNull();
  expect([newest, { ...oldest, fillQuality: null }]).toEqual(expected);
  // Two got what was quoted, one a thousandth less. Of trades that are not final yet, the share is not known in full.
  const known = TRADES.filter(({ ts }) => ts < FINAL_UNTIL - (FINAL_UNTIL % 60)).length;
  const bps = (1 / 1.001 - 1) * 10_000;
  expect(oldest?.fillQuality).toEqual({
    comparedCount: 3,
    medianBps: 0,
    worstBps: expect.closeTo(bps, 3),
    within1BpShare: expect.closeTo(2 / 3, 9),
    worseShare: expect.closeTo(1 / 3, 9),
    unknownShare: expect.closeTo(1 - 3 / known, 9),
  });
  const first = await days('limit=1');
  expect(first).toEqual({ data: [newest], nextBefore: newest?.dayTs });
  expect(await days(`before=${first.nextBefore}`)).toEqual({ data: [oldest], nextBefore: null });
});

test('days have what became of quotes, by side and horizon', async () => {
  const figures = [
    ['asks', '200_ms', 7, 0.61, 0.62, 0, 0, 0, 0.25, 0.125],
    ['bids', '1_s', 9, -1.5, 10_000, 0.4, 0.3, 0.2, 0.6, null],
    ['bids', '1_block', 8, 0, 2.5, 0.5, 0, 0, 0.1, null],
  ] as const;
  await listing.pool.query("SELECT history.keep_partitions('persistence_day', $1, 0)", [START]);
  for (const row of figures) {
    const places = row.map((_, index) => `$${index + 4}`).join();
    const values = [CHAIN_A, POOL, START, ...row];
    await listing.pool.query(`INSERT INTO history.persistence_day VALUES ($1, $2, $3, ${places})`, values);
  }
  const { data } = DaysPage.parse(await (await get('days?limit=2')).json());
  const names = ['side', 'horizon', 'sampleCount', 'medianBps', 'p95Bps', 'worse1BpShare', 'worse5BpsShare'];
  names.push('withdrawnShare', 'betterShare', 'goneShare');
  const [ofAsks, late, early] = figures.map((row) =>
    Object.fromEntries(row.map((value, index) => [names[index], value])),
  );
  expect(data.map(({ persistence }) => persistence)).toEqual([[], [early, late, ofAsks]]);
});

test('a pool that paid out what came without an event holds nothing, not less', async () => {
  const paid: Partial<Record<TotalName, number>> = { liquidityIn0Raw: 3, feesCollected0Raw: 5, feesCollected1Raw: 2 };
  const totals = arrayLiteral(TOTAL_NAMES.toSorted((a, b) => TOTAL[a] - TOTAL[b]).map((name) => paid[name] ?? 0));
  const place = { chainId: CHAIN_A, pool: GIFTED, blockNumber: 1, blockTimestamp: START };
  await listing.db.insert(poolActivity).values({ ...place, totals });
  const { data } = DaysPage.parse(await (await get('days', GIFTED)).json());
  expect(data).toMatchObject([{ balance0Raw: '0', balance1Raw: '0', tvl0Raw: '3', tvl1Raw: '0' }]);
});

test('a page of days ends before it has too many trades, but never without a day', async () => {
  const swapped = [30_000, 45_000, 49_000, 150_000, 150_001];
  const days = swapped.map((_, n) => START + n * DAY);
  await listing.db.insert(poolActivity).values(
    swapped.map((count, n) => ({
      chainId: CHAIN_A,
      pool: BUSY,
      blockNumber: n,
      blockTimestamp: START + n * DAY + DAY - 1,
      totals: arrayLiteral(TOTAL_NAMES.map((name) => (name === 'swapCount' ? count : 0))),
    })),
  );
  const page = async (query: string) => {
    const { data, nextBefore } = DaysPage.parse(await (await get(`days?${query}`, BUSY)).json());
    return [data.map(({ dayTs }) => dayTs), nextBefore];
  };
  expect(await page('')).toEqual([[days[4]], days[4]]);
  expect(await page(`before=${days[4]}`)).toEqual([[days[3]], days[3]]);
  expect(await page(`before=${days[3]}&limit=2`)).toEqual([[days[2], days[1]], days[1]]);
  expect(await page(`before=${days[3]}&limit=3`)).toEqual([[days[2], days[1], days[0]], null]);
});

test('a pool without a trade has no bars and no days', async () => {
  expect(await bars('', QUIET)).toEqual({ data: [], nextBefore: null });
  expect(await (await get('days', QUIET)).json()).toEqual({ data: [], nextBefore: null });
});

test.each([
  [400, 'text', `${POOL}/ohlcv?interval=2h`],
  [400, 'text', `${POOL}/ohlcv?before=yesterday`],
  [400, 'text', `${POOL}/ohlcv?before=-1`],
  [400, 'text', `${POOL}/ohlcv?invert=1`],
  [400, 'json', `${POOL}/ohlcv?limit=-1`],
  [400, 'json', '0x12/days'],
  [404, 'json', `${OTHER}/ohlcv`],
  [404, 'json', `${OTHER}/days`],
])('%i, %s: %s', async (status, kind, path) => {
  const response = await app.request(`/public/v1/evm/${CHAIN_A}/${path}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toMatch(kind === 'json' ? /^application\/json/ : /^text\/plain/);
});
