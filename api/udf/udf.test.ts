import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { swap } from '../../indexer/ponder.schema.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { BarsPage } from '../history/bars-declaration.ts';
import { historyResource } from '../history/history.ts';
import { listUdfBars } from './declaration.ts';
import { type Found, RESOLUTIONS } from './messages.ts';
import { udfResource } from './udf.ts';

const POOL = seedAddress(0x1001);
/** Pools of one pair, which share beginnings of their names with it. */
const OTHERS = Array.from({ length: 40 }, (_, n) => seedAddress(0x2000 + n));
const PERCENT = seedAddress(0x72);
const ODD_POOL = seedAddress(0x3001);
const UNPRICED_POOL = seedAddress(0x3002);
/** A whole number of days. */
const START = 1_794_960_000;
const FINAL_UNTIL = START + 13 * 3_600 + 120;
const HOUR = 3_600;

/** Over two days with quiet hours; every ninth has no price, and one hour has no other trade. */
const TRADES = Array.from({ length: 70 }, (_, n) => ({
  ts: n === 69 ? START + 60 * HOUR : START + n * n * 31,
  block: 100 + n,
  amount0: 10n ** 18n + BigInt(n) * 123_456_789_123n,
  amount1: n % 9 === 0 || n === 69 ? 0n : 2_000_000_000n + BigInt((n * 7_919) % 97) * 1_000_003n,
}));

const listing = startedWorld(openListing);
let app: Hono;

beforeAll(async () => {
  const { db, pool } = listing;
  await seedToken(db, { chainId: CHAIN_A, address: seedAddress(0x70), symbol: 'WETH', decimals: 18 });
  await seedToken(db, { chainId: CHAIN_A, address: seedAddress(0x71), symbol: 'USDC', decimals: 6 });
  await seedToken(db, { chainId: CHAIN_A, address: PERCENT, symbol: '50%_OFF', decimals: 6 });
  await pool.query(
    `INSERT INTO operator.fiat_price SELECT $1, token, 1, 'static', now() FROM unnest($2::text[]) token`,
    [CHAIN_A, [seedAddress(0x70), seedAddress(0x71), PERCENT]],
  );
  const tokens = { token0: seedAddress(0x70), token1: seedAddress(0x71) };
  await seedPools(
    db,
    [POOL, ...OTHERS, ODD_POOL].map((address, n) => ({
      pool: {
        chainId: CHAIN_A,
        address,
        ...tokens,
        ...(address === ODD_POOL && { token0: PERCENT }),
        token1ScaleMultiplier: 10n ** 12n,
      },
      state: { total0Scaled: address === ODD_POOL ? 50_000_000n : BigInt(1_000 - n) * 10n ** 18n, total1Scaled: 0n },
    })),
  );
  await listing.refresh();
  await db.insert(swap).values(
    TRADES.map(({ ts, block, amount0, amount1 }) =>
      swapRow({
        pool: POOL,
        blockNumber: block,
        blockTimestamp: ts,
        logIndex: 0,
        transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
        zeroForOne: block % 2 === 0,
        amount0Raw: block % 2 === 0 ? amount0 : -amount0,
        amount1Raw: block % 2 === 0 ? -amount1 : amount1,
      }),
    ),
  );
  await setIndexedBlock(pool, { chainId: CHAIN_A, number: 1_000, timestamp: FINAL_UNTIL + 60, isFinal: true });
  await writeTradeMinutes(pool);
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const directory = fixedDirectory([POOL, ...OTHERS, ODD_POOL, UNPRICED_POOL].map(tradedPool));
  const deps = { chains, directory, database: pool, wallClock: Date.now };
  mountHandlers(app, [...bindRoutes(historyResource, deps), ...bindRoutes(udfResource, deps)]);
});

const TICKER = `${CHAIN_A}:${POOL}`;
async function get(path: string) {
  const response = await app.request(`/public/v1/udf/${path}`);
  return {
    status: response.status,
    cache: response.headers.get('cache-control'),
    body: JSON.parse(await response.text()),
  };
}
const historyAt = (query: Record<string, string | number>) =>
  get(
    `history?${new URLSearchParams(Object.entries({ symbol: TICKER, ...query }).map(([k, v]): [string, string] => [k, String(v)]))}`,
  );
async function history(resolution: string, query: Record<string, number>) {
  const { status, body } = await historyAt({ resolution, from: 0, ...query });
  expect(status).toBe(200);
  return listUdfBars.answer.schema.parse(body);
}
type Columns = Extract<Awaited<ReturnType<typeof history>>, { s: 'ok' }>;
async function columns(resolution: string, query: Record<string, number>): Promise<Columns> {
  const bars = await history(resolution, query);
  if (bars.s !== 'ok') throw new Error(JSON.stringify(bars));
  return bars;
}

/** 15 digits of a fraction, by its decimals one after another. */
function digits15(numerator: bigint, denominator: bigint): number {
  let text = `${numerator / denominator}.`;
  let rest = numerator % denominator;
  while (text.replace('.', '').replace(/^0+/, '').length < 15) {
    rest *= 10n;
    text += String(rest / denominator);
    rest %= denominator;
  }
  return Number(text);
}

/** Bars from the list of trades alone. USDC has 6 decimals, WETH 18. */
function expectedBars(secs: number) {
  const starts = [...new Set(TRADES.map(({ ts }) => ts - (ts % secs)))].sort((one, other) => one - other);
  return starts.flatMap((start) => {
    const own = TRADES.filter(({ ts }) => ts >= start && ts < start + secs);
    const prices = own
      .filter(({ amount1 }) => amount1 > 0n)
      .map(({ amount0, amount1 }) => digits15(amount1 * 10n ** 12n, amount0));
    const volume = own.reduce((sum, { amount0 }) => sum + amount0, 0n);
    if (prices.length === 0) return [];
    const [open, close] = [prices[0], prices.at(-1)];
    return [
      { t: start, o: open, h: Math.max(...prices), l: Math.min(...prices), c: close, v: digits15(volume, 10n ** 18n) },
    ];
  });
}
const rows = ({ t, o, h, l, c, v }: Columns) =>
  t.map((start, n) => ({ t: start, o: o[n], h: h[n], l: l[n], c: c[n], v: v[n] }));

test.each(Object.entries(RESOLUTIONS))(
  'bars of resolution %s are those of the trades, to 15 digits',
  async (name, secs) => {
    expect(rows(await columns(name, { to: 2 ** 39, countback: 1_000 }))).toEqual(expectedBars(secs));
    expect(rows(await columns(name, { to: START + 5 * 86_400, from: START }))).toEqual(expectedBars(secs));
  },
);

test.each([
  ['60', '1h'],
  ['1D', '1d'],
])('bars of resolution %s are those of ohlcv', async (resolution, interval) => {
  const response = await app.request(`/public/v1/evm/${CHAIN_A}/${POOL}/ohlcv?interval=${interval}&limit=1000`);
  const priced = BarsPage.parse(await response.json())
    .data.filter(({ openX64 }) => openX64 !== null)
    .reverse();
  const bars = await columns(resolution, { to: 2 ** 39, countback: 1_000 });
  expect(bars.t).toEqual(priced.map(({ startTs }) => startTs));
  for (const [column, field] of [
    ['o', 'openX64'],
    ['h', 'highX64'],
    ['l', 'lowX64'],
    ['c', 'closeX64'],
  ] as const) {
    const shown = priced.map((bar) => Number(bar[field]) / 2 ** 64);
    bars[column].forEach((price, n) => {
      expect(price / (shown[n] ?? 0)).toBeCloseTo(1, 13);
    });
  }
});

test('the range is [from, to), countback takes its place, and at most 1,000 bars come', async () => {
  const all = expectedBars(HOUR);
  const [from, to] = [START + 3 * HOUR, START + 9 * HOUR];
  const within = all.filter(({ t }) => t >= from && t < to);
  expect(within.length).toBeGreaterThan(2);
  expect(rows(await columns('60', { from, to }))).toEqual(within);
  const before = all.filter(({ t }) => t < to);
  expect(rows(await columns('60', { from, to, countback: 2 }))).toEqual(before.slice(-2));
  expect(rows(await columns('60', { from: to, to, countback: 500 }))).toEqual(before);
  // `to` within an interval: that one has begun before.
  expect((await columns('60', { from, to: to + 1 })).t.at(-1)).toBe(
    all.find(({ t }) => t === to) ? to : within.at(-1)?.t,
  );
  const minutes = await columns('1', { from: 0, to: 2 ** 39, countback: 5_000 });
  expect(minutes.t.length).toBeLessThanOrEqual(1_000);
});

test('a chart that asks for what was before 1970, or for days as D, gets the same bars', async () => {
  const to = START + 9 * HOUR;
  for (const from of [-1, -1_000_000_000, -(2 ** 40)]) {
    for (const more of [{}, { countback: 2 }]) {
      const bars = await columns('60', { from, to, ...more });
      expect(bars).toEqual(await columns('60', { from: 0, to, ...more }));
    }
  }
  expect(await history('60', { from: -HOUR, to: START })).toEqual({ s: 'no_data' });
  const days = { from: 0, to: 2 ** 39 };
  expect(await columns('D', days)).toEqual(await columns('1D', days));
});

test('an empty range leads to the newest bar before it, and before the first there is none', async () => {
  const all = expectedBars(HOUR);
  const last = all.at(-1)?.t ?? 0;
  const [from, to] = [START + 80 * HOUR, START + 90 * HOUR];
  expect(await history('60', { from, to })).toEqual({ s: 'no_data', nextTime: last });
  // The only trade of this hour has no price.
  const unpriced = START + 60 * HOUR;
  expect(await history('60', { from: unpriced, to: unpriced + HOUR })).toEqual({ s: 'no_data', nextTime: last });
  expect(await history('60', { from: 0, to: START })).toEqual({ s: 'no_data' });
  expect(await history('60', { to: START, countback: 10 })).toEqual({ s: 'no_data' });
  // A client that follows it reaches all bars.
  const reached: number[] = [];
  for (let end = START + 100 * HOUR; ; ) {
    const page = await history('60', { from: end - 2 * HOUR, to: end });
    if (page.s === 'error' || (page.s === 'no_data' && page.nextTime === undefined)) break;
    if (page.s === 'ok') reached.unshift(...page.t);
    end = page.s === 'ok' ? end - 2 * HOUR : (page.nextTime ?? 0) + HOUR;
  }
  expect(reached).toEqual(all.map(({ t }) => t));
});

test('a pool none of whose trades has a price has no earlier bar, so that no client asks for it again and again', async () => {
  const pool = UNPRICED_POOL;
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: pool } }]);
  const place = {
    pool,
    blockNumber: 500,
    blockTimestamp: START + 70 * HOUR,
    logIndex: 0,
    transactionHash: '0x',
  } as const;
  await listing.db.insert(swap).values(swapRow({ ...place, zeroForOne: true, amount0Raw: 1n, amount1Raw: 0n }));
  const unpriced = (query: Record<string, number>) =>
    historyAt({ symbol: `${CHAIN_A}:${pool}`, resolution: '60', from: 0, ...query });
  for (const query of [{ from: START + 60 * HOUR }, { from: START + 71 * HOUR }, { countback: 1 }, { countback: 300 }])
    expect((await unpriced({ ...query, to: START + 72 * HOUR })).body).toEqual({ s: 'no_data' });
});

test('only what is final may be kept', async () => {
  const past = await historyAt({ resolution: '60', from: START, to: START + 5 * HOUR });
  expect(past.cache).toContain('max-age=3600');
  const now = await historyAt({ resolution: '60', from: START, to: START + 90 * HOUR });
  expect(now.cache ?? '').not.toContain('3600');
});

test.each([
  [{ symbol: 'WETH' }, 'symbol'],
  [{ symbol: `${CHAIN_A}:${seedAddress(0x9999)}` }, 'unknown_symbol'],
  [{ symbol: `1:${POOL}` }, 'unknown_symbol'],
  [{ resolution: '30' }, 'resolution'],
  [{ from: 'x' }, 'from'],
  [{ to: '-1' }, 'to'],
  [{ countback: '0' }, 'countback'],
])('a request with %o says what is wrong with status 200', async (query, named) => {
  const { status, body } = await historyAt({ resolution: '60', from: 0, to: START, ...query });
  expect([status, body]).toEqual([200, { s: 'error', errmsg: expect.stringContaining(named) }]);
});

test('a symbol has its digits from the newest price', async () => {
  const { body } = await get(`symbols?symbol=${TICKER.toUpperCase().replace('X', 'x')}`);
  expect(body).toMatchObject({
    name: 'WETH/USDC',
    ticker: TICKER,
    exchange: 'devnet-a',
    session: '24x7',
    timezone: 'Etc/UTC',
  });
  // About 2,000.
  expect(body.pricescale).toBe(100);
  const { body: quiet } = await get(`symbols?symbol=${CHAIN_A}:${OTHERS[0]}`);
  expect(quiet.pricescale).toBe(100_000);
  expect((await get('symbols?symbol=x')).body.s).toBe('error');
  expect((await get(`symbols?symbol=${CHAIN_A}:${seedAddress(0x9999)}`)).body).toEqual({
    s: 'error',
    errmsg: 'unknown_symbol',
  });
});

const search = async (query: string): Promise<string[]> =>
  (await get(`search?${new URLSearchParams({ query })}`)).body.map(({ ticker }: Found) => ticker);
const tickers = (pools: readonly string[]) => pools.map((pool) => `${CHAIN_A}:${pool}`);

test('search finds the largest pools by the beginning of a symbol, pair or address, at most 30', async () => {
  const largest = tickers([POOL, ...OTHERS]).slice(0, 30);
  for (const query of ['', 'w', 'weth', 'WETH/us', ' usdc ']) expect(await search(query)).toEqual(largest);
  expect(await search('eth')).toEqual([]);
  expect(await search(ODD_POOL)).toEqual(tickers([ODD_POOL]));
  expect(await search(POOL.slice(0, 40))).toEqual(tickers([POOL]));
  expect((await get('search?query=weth&limit=3')).body.map(({ ticker }: Found) => ticker)).toEqual(largest.slice(0, 3));
  expect((await get('search?query=weth&limit=300&type=crypto&exchange=')).body).toHaveLength(30);
});

test('wildcards and operators of a search are plain characters', async () => {
  expect(await search('50%_off')).toEqual(tickers([ODD_POOL]));
  for (const query of ['50__', '50%%', '%', '__', 'we*', "we':* | 'us", 'we\\', '50_%']) {
    const found = await search(query);
    expect([query, [...query].length < 2 ? [] : found]).toEqual([query, []]);
  }
  for (const query of ['\u0000\u0000', 'x'.repeat(65)]) {
    const { status, body } = await get(`search?${new URLSearchParams({ query })}`);
    expect([status, body.s]).toEqual([200, 'error']);
  }
});

test('the feed says what it can, and the time', async () => {
  const { body } = await get('config');
  expect(body.supported_resolutions).toEqual(['1', '5', '15', '60', '240', '1D']);
  const askedAt = Math.floor(Date.now() / 1_000);
  const { body: time } = await get('time');
  expect(time).toBeGreaterThanOrEqual(askedAt);
  expect(time).toBeLessThanOrEqual(Date.now() / 1_000);
});
