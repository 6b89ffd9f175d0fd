import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { swap } from '../indexer/ponder.schema.ts';
import { assertUntil } from '../test/harness/assert-until.ts';
import { createIndexedDatabase } from '../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA, publishLiveViews } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { runs } from '../test/harness/property-seed.ts';
import { publicQueries } from '../test/harness/public-queries.ts';
import { FACTORY, openSeeder, type Seeder, seedAddress, seedPools, seedToken } from '../test/harness/seed-pools.ts';

const CHAIN = 5;
/** The last second of May 2027 minus an hour, so that trades lie in two months. */
const START = Date.UTC(2027, 4, 31, 23) / 1_000;
const HOUR = 3_600;
const TOKENS = [
  { address: seedAddress(0x70), symbol: 'weth', decimals: 18 },
  { address: seedAddress(0x71), symbol: 'USDC', decimals: 6 },
  { address: seedAddress(0x72), symbol: 'Zero', decimals: 0 },
  { address: seedAddress(0x73), symbol: null, decimals: 36 },
  { address: seedAddress(0x74), symbol: 'aDAI', decimals: null },
] as const;
/** Indexes of token0 and token1 of each pool. The first is listed. */
const PAIRS = [[0, 1], [1, 0], [1, 2], [2, 3], [4, 0], [3, 4]] as const; // biome-ignore format: a table
const poolAddress = (n: number) => seedAddress(0x1000 + n);
/** Dollars of each token by the minute and by the hour, at times after the start; the last token never had a price. */
const MINUTES = new Map([[0, 2_000], [60, 2_001.5], [3_600, 2_002], [9_000, 1_999]]); // biome-ignore format: a table
const HOURS = new Map([[0, 7], [10_800, 8]]); // biome-ignore format: a table

const database = startedWorld(createIndexedDatabase);
let client: pg.Client;
let seeder: Seeder;

beforeAll(async () => {
  client = database.client;
  seeder = openSeeder(database.url);
  for (const token of TOKENS) await seedToken(seeder.db, { chainId: CHAIN, ...token });
  await seedPools(
    seeder.db,
    PAIRS.map(([token0, token1], n) => ({
      pool: { chainId: CHAIN, address: poolAddress(n), token0: TOKENS[token0].address, token1: TOKENS[token1].address },
    })),
  );
  for (const table of ['fiat_price_minute', 'fiat_price_hour']) {
    await client.query('SELECT history.keep_partitions($1, $2, 0)', [table, START]);
  }
  for (const [table, prices] of [
    ['minute', MINUTES],
    ['hour', HOURS],
  ] as const) {
    // biome-ignore format: a table
    for (const [after, usd] of prices) {
      for (const [n, { address }] of TOKENS.slice(0, 4).entries()) {
        if (table === 'minute' && n === 2) continue;
        const row = [CHAIN, address, START + after, usd / (n + 1)];
        await client.query(`INSERT INTO history.fiat_price_${table} VALUES ($1, $2, $3, $4, 'x')`, row);
      }
    }
  }
});

afterAll(() => seeder?.end());

async function list(): Promise<void> {
  await client.query(
    `INSERT INTO operator.listing_window VALUES (${CHAIN}, 1, 0, 1, 0, 1, 1);
     INSERT INTO operator.listed_pool VALUES (${CHAIN}, '${poolAddress(0)}', '${TOKENS[0].address}', '${TOKENS[1].address}', '{"chain":"five"}', '{}', '{}');
     INSERT INTO operator.pool_listing VALUES (${CHAIN}, '${poolAddress(0)}', '${FACTORY}', 'v1', 1, 'green', 3, null, null, null, null, false, false)`,
  );
}

const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 40n }),
  fc.bigInt({ min: 0n, max: 10n ** 7n }),
  fc.constant(0n),
);
const trades = fc.array(
  fc.record({
    pool: fc.nat(PAIRS.length - 1),
    afterSecs: fc.integer({ min: 0, max: 6 * HOUR }),
    sold: amount,
    bought: amount,
    zeroForOne: fc.constantFrom(true, false, true, false, null),
  }),
  { minLength: 1, maxLength: 30 },
);
type Trade = typeof trades extends fc.Arbitrary<readonly (infer T)[]> ? T : never;

/** The first whole digits of a raw amount, a point and the rest, without zeros at the end. */
function wholeTokens(raw: bigint, decimals: number | null): string | null {
  if (decimals === null) return null;
  const digits = String(raw).padStart(decimals + 1, '0');
  const [whole, rest] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  return rest.replace(/0+$/, '') === '' ? whole : `${whole}.${rest.replace(/0+$/, '')}`;
}

/** The newest price of less than two hours before the minute of a trade, by minutes if there is one. */
function usdOf(token: number, afterSecs: number): number | null {
  const minute = afterSecs - (afterSecs % 60);
  const newest = (prices: ReadonlyMap<number, number>) =>
    [...prices].filter(([ts]) => ts <= minute && ts > minute - 2 * HOUR).at(-1)?.[1];
  const usd = (token === 2 ? undefined : newest(MINUTES)) ?? newest(HOURS);
  return usd === undefined || token === 4 ? null : usd / (token + 1);
}

function expected(trade: Trade, n: number, isListed: boolean, hasTransactions = true) {
  const { pool, afterSecs, sold, bought, zeroForOne } = trade;
  const pair = PAIRS[pool] as readonly [number, number];
  const [input, output] = zeroForOne === false ? [pair[1], pair[0]] : pair;
  const [soldToken, boughtToken] = [TOKENS[input], TOKENS[output]];
  const isKnown = zeroForOne !== null;
  const symbols = [soldToken?.symbol ?? null, boughtToken?.symbol ?? null];
  const price = usdOf(input, afterSecs);
  const time = new Date((START + afterSecs) * 1_000).toISOString();
  const nothingMoved = !isKnown || sold === 0n;
  const usd = price === null ? null : (Number(sold) / 10 ** (soldToken?.decimals ?? 0)) * price;
  const ofKnown = <T>(value: T) => (isKnown ? value : null);
  return {
    blockchain: isListed ? 'five' : null,
    project: null,
    version: isListed && pool === 0 ? 'v1' : null,
    block_date: time.slice(0, 10),
    block_month: `${time.slice(0, 7)}-01`,
    block_time: new Date((START + afterSecs) * 1_000),
    block_number: String(n),
    token_bought_symbol: ofKnown(symbols[1]),
    token_sold_symbol: ofKnown(symbols[0]),
    token_pair: symbols.includes(null)
      ? null
      : symbols.toSorted((a, b) => ((a ?? '').toLowerCase() < (b ?? '').toLowerCase() ? -1 : 1)).join('-'),
    token_bought_amount: ofKnown(wholeTokens(bought, boughtToken?.decimals ?? null)),
    token_sold_amount: ofKnown(wholeTokens(sold, soldToken?.decimals ?? null)),
    token_bought_amount_raw: ofKnown(String(bought)),
    token_sold_amount_raw: ofKnown(String(sold)),
    amount_usd: nothingMoved ? 0 : usd === null ? null : expect.closeTo(usd, 12 - Math.ceil(Math.log10(usd + 1))),
    token_bought_address: ofKnown(boughtToken?.address),
    token_sold_address: ofKnown(soldToken?.address),
    taker: seedAddress(0x600 + n),
    maker: null,
    project_contract_address: poolAddress(pool),
    tx_hash: `0x${n.toString(16).padStart(64, '0')}`,
    tx_from: hasTransactions ? seedAddress(0x700 + n) : null,
    tx_to: hasTransactions && n % 4 > 0 ? seedAddress(0x800 + n) : null,
    evt_index: n % 3,
    chain_id: String(CHAIN),
    block_timestamp: String(START + afterSecs),
  };
}

async function seed(list: readonly Trade[]): Promise<void> {
  await client.query(`TRUNCATE ${ONCHAIN_SCHEMA}.swap`);
  await seeder.db.insert(swap).values(
    list.map(({ pool, afterSecs, sold, bought, zeroForOne }, n) => ({
      chainId: CHAIN,
      blockNumber: n,
      blockTimestamp: START + afterSecs,
      logIndex: n % 3,
      transactionHash: `0x${n.toString(16).padStart(64, '0')}` as const,
      pool: poolAddress(pool),
      sender: seedAddress(0x500 + n),
      recipient: seedAddress(0x600 + n),
      transactionIndex: n,
      transactionFrom: seedAddress(0x700 + n),
      transactionTo: n % 4 === 0 ? null : seedAddress(0x800 + n),
      zeroForOne,
      amount0Raw: zeroForOne === null ? 0n : zeroForOne ? sold : -bought,
      amount1Raw: zeroForOne === null ? 0n : zeroForOne ? -bought : sold,
      parts: '{}',
    })),
  );
}

async function tradesAsAnalyst() {
  const results = await client.query(
    `SET ROLE analyst; SELECT *, block_date::text, block_month::text FROM read_model.dex_trades ORDER BY block_number; RESET ROLE`,
  );
  return ((results as unknown as pg.QueryResult[])[1] as pg.QueryResult).rows;
}

test('each swap is a row with what its log, its tokens and the prices of its minute say', async () => {
  let isListed = false;
  const seen = { dollars: 0, unknown: 0 };
  const check = async (list: readonly Trade[]) => {
    await seed(list);
    const rows = await tradesAsAnalyst();
    expect(rows).toEqual(list.map((trade, n) => expected(trade, n, isListed)));
    seen.dollars += rows.filter(({ amount_usd }) => amount_usd > 0).length;
    seen.unknown += rows.filter(({ amount_usd }) => amount_usd === null).length;
  };
  await fc.assert(fc.asyncProperty(trades, check), { numRuns: runs(25) });
  await list();
  isListed = true;
  const hasSeenEnough = () => Math.min(seen.dollars, seen.unknown) > 20;
  await assertUntil(hasSeenEnough, fc.asyncProperty(trades, check), { numRuns: runs(10) });
});

test('the queries of docs/use/dex-trades.sql sum up the trades', async () => {
  const now = String(START + 7 * HOUR);
  const [pairs = '', traders = '', prices = ''] = publicQueries('dex-trades').map((query) =>
    query.replace('8453', String(CHAIN)).replaceAll('extract(epoch FROM now())::int8', now),
  );
  const { rows: trades } = await client.query('SELECT * FROM read_model.dex_trades');
  const usd = (rows: readonly { amount_usd?: number; volume_usd?: number }[]) =>
    rows.reduce((sum, row) => sum + (row.amount_usd ?? row.volume_usd ?? 0), 0);
  const { rows: byPair } = await client.query(pairs);
  expect(byPair.reduce((sum, { trades: count }) => sum + Number(count), 0)).toBe(trades.length);
  expect(usd(byPair)).toBeCloseTo(usd(trades), -Math.ceil(Math.log10(usd(trades) + 1)) + 9);
  const { rows: byTrader } = await client.query(traders);
  expect(byTrader.every(({ transactions }) => Number(transactions) > 0)).toBe(true);
  expect(byTrader.length).toBe(Math.min(20, new Set(trades.map(({ tx_from }) => tx_from)).size));
  const { rows: byHour } = await client.query(prices);
  const known = trades.filter((row) => row.token_bought_amount !== null && row.token_sold_amount !== null);
  const groups = known.map((row) =>
    [+row.block_time - (+row.block_time % 3_600_000), row.token_sold_symbol, row.token_bought_symbol].join(),
  );
  expect(new Set(byHour.map((row) => [+row.hour, row.token_sold_symbol, row.token_bought_symbol].join()))).toEqual(
    new Set(groups),
  );
});

test('of an index of before release 0.3, views show all but who sent the transactions', async () => {
  const list = fc.sample(trades, 1)[0] ?? [];
  await seed(list);
  await client.query(`DROP VIEW live.swap;
    ALTER TABLE ${ONCHAIN_SCHEMA}.swap DROP COLUMN transaction_index, DROP COLUMN transaction_from, DROP COLUMN transaction_to`);
  await publishLiveViews(client);
  expect(await tradesAsAnalyst()).toEqual(list.map((trade, n) => expected(trade, n, true, false)));
});
