import type { Address } from 'viem';
import { type PoolRow, type PoolStateRow, poolState, pool as poolTable } from '../schema/pools.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/*
 * A pool may log settings in its constructor, before the factory announces the pool. `PoolCreated` repeats all of them.
 * Therefore, both functions ignore settings of a pool that has no row yet.
 */

/** Changes settings of a pool in the table `pool`. */
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

/** Changes settings of a pool in the table `pool_state`, where swaps read them. */
export async function updatePoolState(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  changes: Partial<Pick<PoolStateRow, 'pauseLevel' | 'spreadFeeE6' | 'notionalFeeE8' | 'bidAskRefAsymmetryX8'>>,
): Promise<void> {
  const key = { chainId: place.chainId, pool };
  if ((await db.find(poolState, key)) !== null) await db.update(poolState, key).set({ ...changes, ...stampOf(place) });
}
