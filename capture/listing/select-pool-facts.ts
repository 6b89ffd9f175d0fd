import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { alias, type PgColumn, QueryBuilder } from 'drizzle-orm/pg-core';
import { queriesOn } from '../../db/query-builder.ts';
import {
  curators,
  delistedPools,
  layoutCalibrations,
  poolClassifications,
  poolStorages,
} from '../../db/schema/operator.ts';
import { poolStates, pools, priceProviders, tokens } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { TOTAL_NAMES, type TotalName, type Totals, totalColumn } from '../../protocol/pool-totals.ts';
import { extensionsOfPool } from '../pools/extension-rows.ts';
import { type PoolId, poolRows } from '../pools/pool-id.ts';
import { PROVIDER_COLUMNS } from '../pools/provider-rows.ts';

/** Seconds of the two windows that the listing shows. */
export const DAY_SECS = 86_400;
const WEEK_SECS = 7 * DAY_SECS;

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

const COLUMNS = {
  chainId: pools.chainId,
  address: pools.address,
  factory: pools.factory,
  createdBlockNumber: pools.createdBlockNumber,
  createdTimestamp: pools.createdTimestamp,
  token0: { address: pools.token0, ...nameOf(token0) },
  token1: { address: pools.token1, ...nameOf(token1) },
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
  extensions: extensionsOfPool,
  delisted: sql<boolean>`${isNotNull(delistedPools.pool)}`,
  classification: { tier: poolClassifications.tier, reasonCodes: poolClassifications.reasonCodes },
  day: DAY_TOTALS,
  week: WEEK_TOTALS,
  readings: readings.decided,
};

/** Unix second in which the first activity after another second happened, moved on by so many seconds; null without one. */
const nextActivity = (after: SQL, movedBy: number) => sql`(
  SELECT a.block_timestamp + ${sql.raw(String(movedBy))} FROM read_model.pool_activity a
  WHERE a.chain_id = ${pools.chainId} AND a.pool = ${pools.address} AND a.block_timestamp > ${after}
  ORDER BY a.block_timestamp LIMIT 1)`;

/**
 * Pools with all that the listing shows of them but prices and status: one row per pool, found by a few index steps each,
 * of which five go down its running totals.
 *
 * @param toTs end of the 24-hour and 7-day windows, Unix seconds
 */
export function selectPoolFacts(database: Queryable, wanted: readonly PoolId[], toTs: number) {
  const { chainId, address } = pools;
  const end = sql`${toTs}::int8`;
  const startOf = (secs: number) => sql`${end} - ${sql.raw(String(secs))}`;
  // OFFSET 0: the planner may not compute the window of every pool to pick some of them.
  const windowOf = (secs: number) => sql`LATERAL (
    SELECT * FROM read_model.pool_window(${startOf(secs)}, ${end}) w
    WHERE w.chain_id = ${chainId} AND w.pool = ${address} OFFSET 0)`;
  const isOf = (table: typeof token0 | typeof token1, token: PgColumn) =>
    and(eq(table.chainId, chainId), eq(table.address, token));
  const isStorageOf = and(eq(poolStorages.chainId, chainId), eq(poolStorages.pool, address));
  /** End of the first window whose totals are others, unless the pool is active meanwhile. */
  const nextChangeAt = sql<number | null>`least(
    ${nextActivity(end, 0)}, ${nextActivity(startOf(DAY_SECS), DAY_SECS)}, ${nextActivity(startOf(WEEK_SECS), WEEK_SECS)}
  )::float8`;
  return queriesOn(database)
    .select({ ...COLUMNS, nextChangeAt })
    .from(pools)
    .innerJoin(poolRows(wanted), sql`k.chain_id = ${chainId} AND k.address = ${address}`)
    .innerJoin(poolStates, and(eq(poolStates.chainId, chainId), eq(poolStates.pool, address)))
    .innerJoin(token0, isOf(token0, pools.token0))
    .innerJoin(token1, isOf(token1, pools.token1))
    .innerJoin(sql`${windowOf(DAY_SECS)} day`, sql`true`)
    .innerJoin(sql`${windowOf(WEEK_SECS)} week`, sql`true`)
    .leftJoin(priceProviders, and(eq(priceProviders.chainId, chainId), eq(priceProviders.address, pools.priceProvider)))
    .leftJoin(readings, and(eq(readings.chainId, chainId), eq(readings.factory, pools.factory)))
    .leftJoin(poolStorages, and(isStorageOf, isNull(poolStorages.refusal)))
    .leftJoin(curators, and(eq(curators.chainId, chainId), eq(curators.address, pools.admin)))
    .leftJoin(delistedPools, and(eq(delistedPools.chainId, chainId), eq(delistedPools.pool, address)))
    .leftJoin(
      poolClassifications,
      and(eq(poolClassifications.chainId, chainId), eq(poolClassifications.pool, address)),
    );
}
