import { and, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { readUnreadableFactories } from '../../db/factory-calibration.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { fiatPrices } from '../../db/schema/operator.ts';
import { poolStates, pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';

const [fiat0, fiat1] = [alias(fiatPrices, 'f0'), alias(fiatPrices, 'f1')];

/** What a side of a pool is worth; zero without a price. Prices of any age rank pools. */
const worthOf = (
  balance: 'balance0Raw' | 'balance1Raw',
  decimals: 'token0Decimals' | 'token1Decimals',
  price: typeof fiat0 | typeof fiat1,
) => sql`coalesce(${poolStates[balance]}::float8 / 10::float8 ^ ${pools[decimals]} * ${price.usd}, 0)`;

/** Pools of the enabled deployments of a chain whose storage can be read, with their layout and their worth. */
export async function readPoolsWithWorth(database: Queryable, { chainId, deployments }: ChainConfig) {
  const layouts = new Map(
    deployments.filter(({ enabled }) => enabled).map(({ poolFactory, layout }) => [poolFactory as string, layout]),
  );
  const worthUsd = sql<number>`${worthOf('balance0Raw', 'token0Decimals', fiat0)} + ${worthOf('balance1Raw', 'token1Decimals', fiat1)}`;
  const unreadable = await readUnreadableFactories(database);
  for (const row of unreadable) if (row.chainId === chainId) layouts.delete(row.factory);
  const rows = await queriesOn(database)
    .select({
      address: pools.address,
      token0: pools.token0,
      token1: pools.token1,
      factory: pools.factory,
      priceProvider: pools.priceProvider,
      multiplier0: pools.token0ScaleMultiplier,
      multiplier1: pools.token1ScaleMultiplier,
      worthUsd,
    })
    .from(pools)
    .leftJoin(poolStates, and(eq(poolStates.chainId, chainId), eq(poolStates.pool, pools.address)))
    .leftJoin(fiat0, and(eq(fiat0.chainId, chainId), eq(fiat0.token, pools.token0)))
    .leftJoin(fiat1, and(eq(fiat1.chainId, chainId), eq(fiat1.token, pools.token1)))
    .where(eq(pools.chainId, chainId))
    .orderBy(pools.address);
  return rows.flatMap(({ multiplier0, multiplier1, ...pool }) => {
    const layout = layouts.get(pool.factory);
    return layout === undefined ? [] : [{ ...pool, scale: { multiplier0, multiplier1 }, layout }];
  });
}

/** A pool as {@link readPoolsWithWorth} gives it. */
export type KnownPool = Awaited<ReturnType<typeof readPoolsWithWorth>>[number];
