import { gt, sql } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { delistedPools, fiatPrices, layoutCalibrations } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { type Curators, readCurators } from '../changes/curators.ts';
import { type PoolKey, poolKey } from '../changes/pool-key.ts';
import { tokenKey } from '../fiat/token-key.ts';
import type { Prices } from './known-pools.ts';

/** What pools' records show that is not the pools' own: few rows, read whole each time. */
export type OutsideData = {
  readonly prices: Prices;
  readonly delisted: ReadonlySet<PoolKey>;
  readonly curators: Curators;
  /** What is decided of the factories of packed pools, as one text. */
  readonly readings: string;
};

/** @param fiatMaxAgeSecs an older price is ignored */
export async function readOutsideData(database: Queryable, fiatMaxAgeSecs: number): Promise<OutsideData> {
  const queries = queriesOn(database);
  const oldest = new Date(Date.now() - fiatMaxAgeSecs * 1000);
  const priced = await queries.select().from(fiatPrices).where(gt(fiatPrices.pricedAt, oldest));
  const delisted = await queries.select().from(delistedPools);
  const { chainId, factory, what, decided } = layoutCalibrations;
  const decisions = await queries
    .select({ chainId, factory, what, decided })
    .from(layoutCalibrations)
    .orderBy(sql`1, 2, 3`);
  return {
    prices: new Map(priced.map(({ chainId, token, usd }) => [tokenKey(chainId, token), usd])),
    delisted: new Set(delisted.map(({ chainId, pool }) => poolKey(chainId, pool))),
    curators: await readCurators(database),
    readings: JSON.stringify(decisions),
  };
}

/** Pools that were delisted, or are no more. */
export function relisted({ delisted: before }: OutsideData, { delisted: now }: OutsideData): PoolKey[] {
  return [...[...now].filter((key) => !before.has(key)), ...[...before].filter((key) => !now.has(key))];
}
