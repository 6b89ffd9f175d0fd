import type { Address } from 'viem';
import { writeTrends } from '../../capture/history/write-trends.ts';
import { poolActivity, swap } from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { TOTAL, TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { seedAddress, seedPools, seedToken } from '../harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, type Listing, NOW } from '../metadata/listing-fixture.ts';
import { swapRow } from '../metadata/traded-pool.ts';
import type { Pair } from '../quotes/quote-world.ts';

/** Markup, a script, a change of direction, and far too long; the indexer would take some of it out. */
export const HOSTILE_SYMBOL = `"><img src=https://evil.example/x onerror=alert(1)><script>alert(2)</script>\u202Egnp.${'W'.repeat(60)}`;

/**
 * Pools of the second chain, which no node serves: more than a page. Unlike their TVL, their trends are in no order.
 */
export const OTHERS = Array.from({ length: 60 }, (_, n) => ({
  address: seedAddress(0x2000 + n),
  /** Per mille in 24 hours. */
  change: ((n * 37) % 60) - 30,
  /** Whole US dollars within 1 % of the price. */
  depth: n % 10 === 9 ? null : 1 + ((n * 17) % 60),
}));

/** A pool that is on the chain and listed. */
export type MarketPlan = {
  readonly symbols: readonly [string, string];
  /** Pools of one number have the same tokens. */
  readonly pair: number;
  /** token1, which is a US dollar, per token0. */
  readonly price: number;
  /** Whole token0 in each bin above the price. */
  readonly perBin: bigint;
  readonly tier: 'green' | 'yellow' | 'red';
  readonly codes: readonly string[];
};

/** Bins on each side of the price. */
export const BINS = 8;

export const MARKET: readonly MarketPlan[] = [
  { symbols: ['WETH', 'USDC'], pair: 0, price: 3_000, perBin: 6n, tier: 'green', codes: [] },
  {
    symbols: ['WETH', 'USDC'],
    pair: 0,
    price: 3_001,
    perBin: 2n,
    tier: 'yellow',
    codes: ['curator_unverified', 'stop_loss_mutable'],
  },
  {
    symbols: [HOSTILE_SYMBOL, 'USDX'],
    pair: 1,
    price: 25,
    perBin: 1n,
    tier: 'red',
    codes: ['stop_loss_missing', 'app_missing', 'code_of_tomorrow'],
  },
  { symbols: ['WBTC', 'USDT'], pair: 2, price: 98_000, perBin: 1n, tier: 'green', codes: [] },
  {
    symbols: ['DAI', 'USDS'],
    pair: 3,
    price: 0.9998,
    perBin: 9_000n,
    tier: 'yellow',
    codes: ['price_provider_mutable'],
  },
];

export type MarketPool = MarketPlan & { readonly address: Address; readonly tokens: Pair };

/** Lists the pools of a chain, and many more of another. */
export async function seedMarket(listing: Listing, pools: readonly MarketPool[]): Promise<void> {
  const { db, pool: database } = listing;
  const seed = async (chainId: number, address: Address, symbol: string, decimals: number, usd: number) => {
    await seedToken(db, { chainId, address, symbol, name: symbol, decimals });
    await database.query(
      `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', now()) ON CONFLICT DO NOTHING`,
      [chainId, address, usd],
    );
  };
  for (const { tokens, symbols, price } of pools) {
    await seed(CHAIN_A, tokens.token0, symbols[0], 18, price);
    await seed(CHAIN_A, tokens.token1, symbols[1], 6, 1);
  }
  await seed(CHAIN_B, seedAddress(0x70), 'MKR', 18, 1_500);
  await seed(CHAIN_B, seedAddress(0x71), 'DAI', 18, 1);
  const others = OTHERS.map(({ address }, n) => ({
    pool: { chainId: CHAIN_B, address },
    state: { total0Scaled: 10n ** 17n * BigInt(1 + n), total1Scaled: 10n ** 18n },
  }));
  await seedPools(db, [...pools.map(funded), ...others]);
  const [first] = pools;
  if (first) await seedDay(listing, first.address);
  for (const { address, tier, codes } of pools) await classify(listing, address, tier, codes);
  await seedOtherDays(listing);
  await listing.refresh();
  await storeTrends(listing);
}

/** The prices of the second chain's pools, and what they would have traded. */
async function seedOtherDays({ pool: database }: Listing): Promise<void> {
  for (const ts of [NOW - 80_000, NOW])
    await database.query("SELECT history.keep_partitions('quote_minute', $1, 0)", [ts]);
  for (const { address, change, depth } of OTHERS) {
    await fund(database, CHAIN_B, address);
    const depths = depth === null ? null : ['1', '2', '3', String(BigInt(depth) * 10n ** 18n)];
    await database.query(
      `INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
         bid_depth_raw, ask_depth_raw)
       SELECT $1, $2, ts, 1, 'healthy', price * 2::numeric ^ 64, price * 2::numeric ^ 64, false, $3, array_fill(0, ARRAY[4])
       FROM unnest($4::int8[], $5::numeric[]) sample (ts, price)`,
      [CHAIN_B, address, depths, [NOW - 80_000, NOW], [1_000, 1_000 + change]],
    );
  }
}

/** A pool whose quotes capture samples. */
const fund = (database: Listing['pool'], chainId: number, address: Address) =>
  database.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, is_funded)
     VALUES ($1, $2, 'healthy', 1, 1, now(), true)`,
    [chainId, address],
  );

function funded({ address, tokens: { token0, token1 }, perBin, price }: MarketPool) {
  const total0Scaled = perBin * BigInt(BINS) * 10n ** 18n;
  const total1Scaled = (total0Scaled * BigInt(Math.round(price * 10_000))) / 10_000n;
  const pool = { chainId: CHAIN_A, address, token0, token1, token1ScaleMultiplier: 10n ** 12n };
  return { pool, state: { total0Scaled, total1Scaled } };
}

async function classify(
  { pool, tiers }: Listing,
  address: Address,
  tier: MarketPlan['tier'],
  codes: readonly string[],
): Promise<void> {
  tiers.set(address, { tier, reasonCodes: codes });
  await fund(pool, CHAIN_A, address);
}

const TRADES = 70;

/** Trades of the last day, and their totals. */
async function seedDay({ db }: Listing, pool: Address): Promise<void> {
  const rows = Array.from({ length: TRADES }, (_, n) =>
    swapRow({
      pool,
      blockNumber: 900 + n,
      blockTimestamp: NOW - 60 * (TRADES - n),
      logIndex: n % 5,
      transactionHash: `0x${(n + 1).toString(16).padStart(64, 'a')}`,
      zeroForOne: n % 2 === 0,
      amount0Raw: (n % 2 === 0 ? 1n : -1n) * BigInt(n + 1) * 10n ** 17n,
      amount1Raw: (n % 2 === 0 ? -1n : 1n) * BigInt(n + 1) * (n % 2 === 0 ? 299_800_000n : 300_200_000n),
    }),
  );
  await db.insert(swap).values(rows);
  await recordDay(db, pool, NOW - 60);
}

const DAY: Partial<Record<TotalName, bigint>> = {
  swapCount: 70n,
  swapTxCount: 70n,
  transferCount: 140n,
  swapIn0Raw: 124n * 10n ** 18n,
  swapIn1Raw: 378_000n * 10n ** 6n,
  lpFee0Scaled: 5n * 10n ** 16n,
  lpFee1Scaled: 120n * 10n ** 18n,
};

async function recordDay(db: Listing['db'], pool: Address, blockTimestamp: number): Promise<void> {
  const totals = arrayLiteral([...TOTAL_NAMES].sort((a, b) => TOTAL[a] - TOTAL[b]).map((name) => DAY[name] ?? 0n));
  await db.insert(poolActivity).values({ chainId: CHAIN_A, pool, blockNumber: 950, blockTimestamp, totals });
}

/** One more trade, as the indexer would add it. */
export async function addTrade({ db }: Listing, pool: Address, blockNumber: number): Promise<void> {
  await db.insert(swap).values({
    chainId: CHAIN_A,
    pool,
    blockNumber,
    blockTimestamp: NOW,
    logIndex: 0,
    transactionHash: `0x${blockNumber.toString(16).padStart(64, 'b')}`,
    sender: seedAddress(5),
    transactionIndex: 0,
    transactionFrom: seedAddress(7),
    recipient: seedAddress(6),
    zeroForOne: false,
    exactInput: true,
    amount0Raw: -(12_345n * 10n ** 15n),
    amount1Raw: 37_100_000_000n,
    lpFeeScaled: 0n,
    protocolFeeScaled: 0n,
    notionalFeeScaled: 0n,
    curBinIdx: 0,
    curPosInBin: 0n,
    parts: '{}',
  });
}

/** As capture does each minute. */
export async function storeTrends(listing: Listing): Promise<void> {
  for (const chainId of [CHAIN_A, CHAIN_B]) await writeTrends(listing.pool, chainId);
  await listing.refresh();
}

/**
 * A sample of 3,000 and 3,001 USDC, with 4,500 USDC and 1.5 WETH within 50 bps of their middle,
 * where the bar of the trades begins.
 */
export async function addQuoteSample({ pool: database }: Listing, pool: Address): Promise<void> {
  const ts = NOW - (NOW % 300);
  await database.query("SELECT history.keep_partitions('quote_minute', $1, 0)", [ts]);
  await database.query(
    `INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
       bid_depth_raw, ask_depth_raw) VALUES ($1, $2, $3, 1, 'healthy', $4, $5, false, $6, $7) ON CONFLICT DO NOTHING`,
    [
      CHAIN_A,
      pool,
      ts,
      ...[3_000n, 3_001n].map((price) => String(price << 64n)),
      inBands('4500000000'),
      inBands('1500000000000000000'),
    ],
  );
}

/** Within 10, 25, 50 and 100 bps. */
const inBands = (third: string) => ['1', '2', third, `${third}0`];

/** What became of quotes of the newest day with activity, by side: an eighth of the bids' depth was gone. */
export async function addPersistence({ pool: database }: Listing, pool: Address): Promise<void> {
  const ts = NOW - 60 - ((NOW - 60) % 86_400);
  await database.query("SELECT history.keep_partitions('persistence_day', $1, 0)", [ts]);
  await database.query(
    `INSERT INTO history.persistence_day VALUES ($1, $2, $3, 'bids', '1_block', 9, 0, 2.5, 0.1, 0, 0, 0, 0.125),
       ($1, $2, $3, 'asks', '1_block', 9, 0, 1.5, 0.1, 0, 0, 0, NULL)`,
    [CHAIN_A, pool, ts],
  );
}
