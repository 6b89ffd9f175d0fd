import type { Address } from 'viem';
import { type PoolRow, type PoolStateRow, poolState, pool as poolTable } from '../schema/pools.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/*
 * A pool under construction may announce its settings before the factory announces the pool. `PoolCreated` repeats
 * them all, so settings of a pool that has no row yet are left to it.
 */

/** Changes settings that are kept with what a pool was created with. */
export async function updatePool(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  change: (pool: PoolRow) => Partial<PoolRow>,
): Promise<void> {
  const key = { chainId: place.chainId, address };
  const pool = await db.find(poolTable, key);
  if (pool !== null) await db.update(poolTable, key).set({ ...change(pool), ...stampOf(place) });
}

/** Changes settings that swaps need. */
export async function updatePoolState(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  changes: Partial<Pick<PoolStateRow, 'pauseLevel' | 'spreadFeeE6' | 'notionalFeeE8' | 'bidAskRefAsymmetryX8'>>,
): Promise<void> {
  const key = { chainId: place.chainId, pool };
  if ((await db.find(poolState, key)) !== null) await db.update(poolState, key).set({ ...changes, ...stampOf(place) });
}
