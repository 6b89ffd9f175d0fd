import { and, eq, gt, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { alias, type PgColumn, QueryBuilder } from 'drizzle-orm/pg-core';
import { queriesOn } from '../../db/query-builder.ts';
import {
  curators,
  delistedPools,
  fiatPrices,
  layoutCalibrations,
  poolClassifications,
  poolStorages,
  priceHealth,
} from '../../db/schema/operator.ts';
import { poolStates, pools, priceProviders, tokens } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { TOTAL_NAMES, type TotalName, type Totals, totalColumn } from '../../protocol/pool-totals.ts';
import { extensionsOfPools } from '../pools/extension-rows.ts';
import { PROVIDER_COLUMNS } from '../pools/provider-rows.ts';

/** Seconds of the two windows that the listing shows. */
export const DAY_SECS = 86_400;
const WEEK_SECS = 7 * DAY_SECS;

/** Ends of the window and of what still counts. */
export type FactsLimits = {
  /** End of the window, Unix seconds. */
  readonly toTs: number;
  readonly oldestFiatPrice: Date;
  readonly oldestStatus: Date;
};

/** A row of {@link selectPoolFacts}. */
export type PoolFactsColumns = Awaited<ReturnType<typeof selectPoolFacts>>[number];

const windowTotal = (window: 'day' | 'week', name: TotalName): SQL<bigint | null> =>
  sql`${sql.raw(`${window}.${totalColumn(name)}`)}`.mapWith(BigInt);

const weekTotal = <Name extends TotalName>(name: Name) => windowTotal('week', name) as SQL<Totals[Name]>;

/** What the day added to the running totals. */
const DAY_TOTALS = Object.fromEntries(TOTAL_NAMES.map((name) => [name, windowTotal('day', name)])) as {
  readonly [Name in TotalName]: SQL<Totals[Name]>;
};

/** What LPs earned in the week. */
const WEEK_TOTALS = {
  lpFee0Scaled: weekTotal('lpFee0Scaled'),
  lpFee1Scaled: weekTotal('lpFee1Scaled'),
  saleBinFeesHigh: weekTotal('saleBinFeesHigh'),
  saleBinFeesLow: weekTotal('saleBinFeesLow'),
  purchaseBinFeesHigh: weekTotal('purchaseBinFeesHigh'),
  purchaseBinFeesLow: weekTotal('purchaseBinFeesLow'),
};

/** Decided readings of each factory, as a JSON object by what they are about. */
const readings = new QueryBuilder()
  .select({
    chainId: layoutCalibrations.chainId,
    factory: layoutCalibrations.factory,
    decided: sql<string | null>`json_object_agg(${layoutCalibrations.what}, ${layoutCalibrations.decided})::text`.as(
      'decided',
    ),
  })
  .from(layoutCalibrations)
  .groupBy(layoutCalibrations.chainId, layoutCalibrations.factory)
  .as('r');

const [token0, token1] = [alias(tokens, 't0'), alias(tokens, 't1')];
const nameOf = ({ symbol, name, decimals }: typeof token0 | typeof token1) => ({ symbol, name, decimals });
const [fiat0, fiat1] = [alias(fiatPrices, 'f0'), alias(fiatPrices, 'f1')];
const extensions = extensionsOfPools;

const COLUMNS = {
  chainId: pools.chainId,
  address: pools.address,
  factory: pools.factory,
  createdBlockNumber: pools.createdBlockNumber,
  createdTimestamp: pools.createdTimestamp,
  // USD per whole token; null without a fresh price.
  token0: { address: pools.token0, ...nameOf(token0), usd: fiat0.usd },
  token1: { address: pools.token1, ...nameOf(token1), usd: fiat1.usd },
  creator: pools.creator,
  admin: pools.admin,
  adminUsername: curators.username,
  verified: curators.verified,
  adminFeeDestination: pools.adminFeeDestination,
  protocolSpreadFeeE6: pools.protocolSpreadFeeE6,
  adminSpreadFeeE6: pools.adminSpreadFeeE6,
  protocolNotionalFeeE8: pools.protocolNotionalFeeE8,
  adminNotionalFeeE8: pools.adminNotionalFeeE8,
  priceProvider: pools.priceProvider,
  priceProviderSinceBlock: pools.priceProviderSinceBlock,
  priceProviderTimelockSecs: pools.priceProviderTimelockSecs,
  pendingProvider: {
    address: pools.pendingPriceProvider,
    block: pools.pendingPriceProviderBlock,
    executeAfter: pools.pendingPriceProviderExecuteAfter,
  },
  provider: PROVIDER_COLUMNS,
  pauseLevel: poolStates.pauseLevel,
  curBinIdx: poolStates.curBinIdx,
  liquidity: { raw0: poolStates.liquidity0Raw, raw1: poolStates.liquidity1Raw },
  scale: { multiplier0: pools.token0ScaleMultiplier, multiplier1: pools.token1ScaleMultiplier },
  storage: {
    curBinIdx: poolStorages.curBinIdx,
    total0Scaled: poolStorages.total0Scaled,
    total1Scaled: poolStorages.total1Scaled,
  },
  extensions: extensions.extensions,
  delisted: sql<boolean>`${isNotNull(delistedPools.pool)}`,
  classification: { tier: poolClassifications.tier, reasonCodes: poolClassifications.reasonCodes },
  priceStatus: priceHealth.status,
  day: DAY_TOTALS,
  week: WEEK_TOTALS,
  readings: readings.decided,
};

/**
 * Every pool with all that the listing shows of it: one row per pool, hash joins over tables with a few rows per pool,
 * and three index steps into its running totals.
 */
export function selectPoolFacts(database: Queryable, limits: FactsLimits) {
  const { toTs, oldestFiatPrice, oldestStatus } = limits;
  const { chainId, address } = pools;
  const windowOf = (secs: number) =>
    sql`read_model.pool_window(${toTs}::int8 - ${sql.raw(String(secs))}, ${toTs}::int8)`;
  const isOfPool = (window: SQL) => sql`${window}.chain_id = ${chainId} AND ${window}.pool = ${address}`;
  const isOf = (table: typeof token0 | typeof token1, token: PgColumn) =>
    and(eq(table.chainId, chainId), eq(table.address, token));
  const isPriceOf = (table: typeof fiat0 | typeof fiat1, token: PgColumn) =>
    and(eq(table.chainId, chainId), eq(table.token, token), gt(table.pricedAt, oldestFiatPrice));
  const isStorageOf = and(eq(poolStorages.chainId, chainId), eq(poolStorages.pool, address));
  return queriesOn(database)
    .select(COLUMNS)
    .from(pools)
    .innerJoin(poolStates, and(eq(poolStates.chainId, chainId), eq(poolStates.pool, address)))
    .innerJoin(token0, isOf(token0, pools.token0))
    .innerJoin(token1, isOf(token1, pools.token1))
    .innerJoin(sql`${windowOf(DAY_SECS)} day`, isOfPool(sql`day`))
    .innerJoin(sql`${windowOf(WEEK_SECS)} week`, isOfPool(sql`week`))
    .leftJoin(priceProviders, and(eq(priceProviders.chainId, chainId), eq(priceProviders.address, pools.priceProvider)))
    .leftJoin(extensions, and(eq(extensions.chainId, chainId), eq(extensions.pool, address)))
    .leftJoin(readings, and(eq(readings.chainId, chainId), eq(readings.factory, pools.factory)))
    .leftJoin(fiat0, isPriceOf(fiat0, pools.token0))
    .leftJoin(fiat1, isPriceOf(fiat1, pools.token1))
    .leftJoin(
      priceHealth,
      and(eq(priceHealth.chainId, chainId), eq(priceHealth.pool, address), gt(priceHealth.capturedAt, oldestStatus)),
    )
    .leftJoin(poolStorages, and(isStorageOf, isNull(poolStorages.refusal)))
    .leftJoin(curators, and(eq(curators.chainId, chainId), eq(curators.address, pools.admin)))
    .leftJoin(delistedPools, and(eq(delistedPools.chainId, chainId), eq(delistedPools.pool, address)))
    .leftJoin(
      poolClassifications,
      and(eq(poolClassifications.chainId, chainId), eq(poolClassifications.pool, address)),
    );
}
