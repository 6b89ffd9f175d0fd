import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Address } from 'viem';
import * as onchain from '../../indexer/ponder.schema.ts';
import { NO_ACTIVITY } from '../../indexer/reducers/activity.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { ONCHAIN_SCHEMA } from './onchain-tables.ts';

export type Seeder = { readonly db: NodePgDatabase; readonly end: () => Promise<void> };

/** Writes rows of the indexer's tables as the indexer names them. */
export function openSeeder(url: string, schema = ONCHAIN_SCHEMA): Seeder {
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}`, max: 2 });
  // Dropping the database ends its sessions.
  pool.on('error', () => undefined);
  return { db: drizzle({ client: pool, casing: 'snake_case' }), end: () => pool.end() };
}

export const seedAddress = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;

export const FACTORY = seedAddress(0xfac);
export const TOKEN0 = seedAddress(0x70);
export const TOKEN1 = seedAddress(0x71);
const STAMP = { blockNumber: 1, blockTimestamp: 1 };
const BINS = Array.from({ length: 11 }, (_, index) => index - 5);
const ofBins = (value: number) => arrayLiteral(BINS.map(() => value));

type PoolRow = typeof onchain.pool.$inferInsert;
type PoolStateRow = typeof onchain.poolState.$inferInsert;
type TokenRow = typeof onchain.token.$inferInsert;

export async function seedToken(db: NodePgDatabase, token: Partial<TokenRow> & Pick<TokenRow, 'chainId' | 'address'>) {
  const row = { symbol: 'TKN', name: 'Token', decimals: 18, ...STAMP, ...token };
  await db.insert(onchain.token).values(row).onConflictDoNothing();
}

/** A pool with its state, unfunded unless `state` says otherwise. Its tokens must be seeded too. */
export async function seedPools(
  db: NodePgDatabase,
  pools: readonly {
    readonly pool: Partial<PoolRow> & Pick<PoolRow, 'chainId' | 'address'>;
    readonly state?: Partial<PoolStateRow>;
  }[],
) {
  const keys = pools.map(({ pool: { chainId, address } }) => ({ chainId, pool: address }));
  await db.insert(onchain.pool).values(pools.map(({ pool }) => ({ ...POOL, ...pool })));
  await db
    .insert(onchain.poolState)
    .values(pools.map(({ state }, i) => ({ ...POOL_STATE, ...state, ...required(keys[i]) })));
}

const POOL = {
  factory: FACTORY,
  poolIdx: 1n,
  token0: TOKEN0,
  token1: TOKEN1,
  token0ScaleMultiplier: 1n,
  token1ScaleMultiplier: 1n,
  lowestBin: -5,
  highestBin: 5,
  binLengthsE6: ofBins(1_000),
  binAddFeesBuyE6: ofBins(0),
  binAddFeesSellE6: ofBins(0),
  initialAmount0PerShareE18: 10n ** 18n,
  initialAmount1PerShareE18: 10n ** 18n,
  minimalMintableLiquidity: 1000n,
  creator: seedAddress(0xc),
  createdBlockNumber: 100,
  createdTimestamp: 1_790_000_000,
  createdTransactionHash: `0x${'ab'.repeat(32)}`,
  admin: seedAddress(0xa),
  adminFeeDestination: seedAddress(0xfee),
  protocolSpreadFeeE6: 100_000,
  adminSpreadFeeE6: 50_000,
  protocolNotionalFeeE8: 1_000,
  adminNotionalFeeE8: 2_000,
  priceProvider: seedAddress(0x9),
  priceProviderSinceBlock: 100,
  priceProviderTimelockSecs: 86_400n,
  beforeAddLiquidityOrder: 0n,
  afterAddLiquidityOrder: 0n,
  beforeRemoveLiquidityOrder: 0n,
  afterRemoveLiquidityOrder: 0n,
  beforeSwapOrder: 0n,
  afterSwapOrder: 0n,
  ...STAMP,
} as const;

const POOL_STATE = {
  pauseLevel: 0,
  curBinIdx: 0,
  curPosInBin: 0n,
  curBinDistFromProvidedPriceE6: 0,
  spreadFeeE6: 150_000,
  notionalFeeE8: 3_000,
  total0Scaled: 0n,
  total1Scaled: 0n,
  notionalFee0Scaled: 0n,
  notionalFee1Scaled: 0n,
  balance0Raw: 0n,
  balance1Raw: 0n,
  lowestBin: -5,
  binBalances0Scaled: ofBins(0),
  binBalances1Scaled: ofBins(0),
  binShares: ofBins(0),
  binLowerDistsE6: arrayLiteral(BINS.map((bin) => bin * 1_000)),
  activityTotals: NO_ACTIVITY,
  ...STAMP,
} as const;

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('missing');
  return value;
}
