import { and, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { ReadClass } from '../../chain/read-schedule/call-budget.ts';
import type { ScheduledRead } from '../../chain/read-schedule/read-scheduler.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { readUnreadableFactories } from '../../db/factory-calibration.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { fiatPrices } from '../../db/schema/operator.ts';
import { poolStates, pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';

const [fiat0, fiat1] = [alias(fiatPrices, 'f0'), alias(fiatPrices, 'f1')];

/** Most funded pools for each call that the budget has per minute. */
const FUNDED_PER_CALL = 8;

/** Selects the value of a side of a pool, USD; zero without a price. Prices of any age count. */
const sideValue = (
  balance: 'balance0Raw' | 'balance1Raw',
  decimals: 'token0Decimals' | 'token1Decimals',
  price: typeof fiat0 | typeof fiat1,
) => sql`coalesce(${poolStates[balance]}::float8 / 10::float8 ^ ${pools[decimals]} * ${price.usd}, 0)`;

/** Reads a chain's pools of enabled deployments whose storage can be read, with their layout, value and class. */
export async function readPoolValues(
  database: Queryable,
  { chainId, deployments, readBudget }: Pick<ChainConfig, 'chainId' | 'deployments' | 'readBudget'>,
) {
  const layouts = new Map(
    deployments.filter(({ enabled }) => enabled).map(({ poolFactory, layout }) => [poolFactory as string, layout]),
  );
  const valueUsd = sql<number>`${sideValue('balance0Raw', 'token0Decimals', fiat0)} + ${sideValue('balance1Raw', 'token1Decimals', fiat1)}`;
  const unreadable = await readUnreadableFactories(database);
  for (const row of unreadable) if (row.chainId === chainId) layouts.delete(row.factory);
  const rows = await queriesOn(database)
    .select({
      chainId: pools.chainId,
      address: pools.address,
      token0: pools.token0,
      token1: pools.token1,
      factory: pools.factory,
      priceProvider: pools.priceProvider,
      multiplier0: pools.token0ScaleMultiplier,
      multiplier1: pools.token1ScaleMultiplier,
      valueUsd,
    })
    .from(pools)
    .leftJoin(poolStates, and(eq(poolStates.chainId, chainId), eq(poolStates.pool, pools.address)))
    .leftJoin(fiat0, and(eq(fiat0.chainId, chainId), eq(fiat0.token, pools.token0)))
    .leftJoin(fiat1, and(eq(fiat1.chainId, chainId), eq(fiat1.token, pools.token1)))
    .where(eq(pools.chainId, chainId))
    .orderBy(pools.address);
  const known = rows.flatMap(({ multiplier0, multiplier1, ...pool }) => {
    const layout = layouts.get(pool.factory);
    return layout === undefined ? [] : [{ ...pool, scale: { multiplier0, multiplier1 }, layout }];
  });
  return markFunded(known, readBudget);
}

/**
 * Marks the pools that are funded: those of the highest value, at least `minFundedUsd`, as many as the budget can read
 * within about 15 s. So small amounts in many pools cannot delay valuable pools. Each read of a pool's prices stores
 * the mark, for the listing and the API.
 */
export function markFunded<P extends { readonly valueUsd: number }>(
  list: readonly P[],
  { callsPerMinute, minFundedUsd }: ReadBudgetConfig,
): (P & { readonly isFunded: boolean })[] {
  const funded = list.filter(({ valueUsd }) => valueUsd >= minFundedUsd).sort((a, b) => b.valueUsd - a.valueUsd);
  const richest = new Set(funded.slice(0, callsPerMinute * FUNDED_PER_CALL));
  return list.map((pool) => ({ ...pool, isFunded: richest.has(pool) }));
}

/** A pool as {@link readPoolValues} gives it. */
export type KnownPool = Awaited<ReturnType<typeof readPoolValues>>[number];

/** Classes of pools in capture. */
export const CAPTURE_CLASSES = ['funded', 'remaining'] as const satisfies readonly ReadClass[];

export type CaptureClass = (typeof CAPTURE_CLASSES)[number];

/** Gives pools as a schedule takes them. */
export const scheduledPools = <P extends Pick<KnownPool, 'address' | 'isFunded'>>(list: readonly P[]) =>
  list.map((item): ScheduledRead<P> => ({ key: item.address, kind: item.isFunded ? 'funded' : 'remaining', item }));
