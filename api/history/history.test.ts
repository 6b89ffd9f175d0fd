import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { swap } from '../../indexer/ponder.schema.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { seedAddress, seedPools } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { BarsPage, INTERVALS, type TradeBar } from './declaration.ts';
import { historyResource } from './history.ts';

const [POOL, QUIET, OTHER] = [seedAddress(0x1001), seedAddress(0x1002), seedAddress(0x1003)];
/** A whole number of days. */
const START = 1_794_960_000;
const FINAL_UNTIL = START + 13 * 3_600 + 120;
const MULTIPLIER1 = 10n ** 12n;
const Q64 = 1n << 64n;

let listing: Listing;
let app: Hono;

const served = (address: ServedPool['address']): ServedPool => ({
  chainId: CHAIN_A,
  address,
  contractVersion: 'v1',
  layout: 'flat',
  pair: 'WETH/USDC',
  token0: { address: seedAddress(0x70), symbol: 'WETH', decimals: 18 },
  token1: { address: seedAddress(0x71), symbol: 'USDC', decimals: 6 },
  immutables: { lowestBin: -5, highestBin: 5, scale: { multiplier0: 1n, multiplier1: MULTIPLIER1 } },
  immutableProvider: null,
  extensions: [],
  stopLossMark: 'mean',
});

/** Over two days, with quiet hours between; every seventh moved nothing of token1. */
const TRADES = Array.from({ length: 60 }, (_, n) => ({
  ts: START + Math.floor((n * n * 48 * 3_600) / 3_600) + (n % 3),
  block: 100 + n,
  amount0: 10n ** 18n + BigInt(n) * 10n ** 15n,
  amount1: n % 7 === 0 ? 0n : 2_000_000_000n + BigInt((n * 7_919) % 97) * 1_000_003n,
  isSale: n % 2 === 0,
}));

const rowOf = ({ ts, block, amount0, amount1, isSale }: (typeof TRADES)[number], pool = POOL) => ({
  chainId: CHAIN_A,
  pool,
  blockNumber: block,
  blockTimestamp: ts,
  logIndex: pool === POOL ? 0 : 1,
  transactionHash: `0x${block.toString(16).padStart(64, '0')}` as const,
  sender: seedAddress(5),
  recipient: seedAddress(6),
  zeroForOne: isSale,
  exactInput: true,
  amount0Raw: isSale ? amount0 : -amount0,
  amount1Raw: isSale ? -amount1 : amount1,
  lpFeeScaled: 0n,
  protocolFeeScaled: 0n,
  notionalFeeScaled: 0n,
  curBinIdx: 0,
  curPosInBin: 0n,
  parts: '{}',
});

beforeAll(async () => {
  listing = await openListing();
  await seedPools(
    listing.db,
    [POOL, QUIET, OTHER].map((address) => ({ pool: { chainId: CHAIN_A, address } })),
  );
  await listing.db.insert(swap).values(TRADES.flatMap((trade) => [rowOf(trade), rowOf(trade, OTHER)]));
  await setIndexedBlock(listing.pool, { chainId: CHAIN_A, number: 1_000, timestamp: FINAL_UNTIL, isFinal: true });
  await writeTradeMinutes(listing.pool);
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const deps = { chains, directory: fixedDirectory([served(POOL), served(QUIET)]), database: listing.pool };
  mountHandlers(app, bindRoutes(historyResource, deps));
}, 60_000);

afterAll(() => listing?.close());

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
    const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n).toString();
    return {
      startTs,
      openX64: shown(priced[0]),
      highX64: shown(sorted.at(-1)),
      lowX64: shown(sorted[0]),
      closeX64: shown(priced.at(-1)),
      volume0Raw: sum(own.map(({ amount0 }) => amount0)),
      volume1Raw: sum(own.map(({ amount1 }) => amount1)),
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
