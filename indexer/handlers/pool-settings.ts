import { type Address, zeroAddress } from 'viem';
import { NumberList } from '../reducers/number-list.ts';
import { poolState, pool as poolTable } from '../schema/pools.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

type PoolRow = typeof poolTable.$inferSelect;
type PoolStateRow = typeof poolState.$inferSelect;

/*
 * A pool under construction may announce its settings before the factory announces the pool. `PoolCreated` repeats
 * them all, so settings of a pool that has no row yet are left to it.
 */

/** Changes settings that the factory keeps for a pool. */
export async function updatePool(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  changes: Partial<Omit<PoolRow, 'chainId' | 'address'>>,
): Promise<void> {
  const key = { chainId: place.chainId, address };
  if ((await db.find(poolTable, key)) === null) return;
  await db.update(poolTable, key).set({ ...changes, ...stampOf(place) });
}

/** Changes settings that the pool keeps itself. */
export async function updatePoolState(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  changes: Partial<Pick<PoolStateRow, 'pauseLevel' | 'spreadFeeE6' | 'notionalFeeE8' | 'bidAskRefAsymmetryX8'>>,
): Promise<void> {
  const key = { chainId: place.chainId, pool };
  if ((await db.find(poolState, key)) === null) return;
  await db.update(poolState, key).set({ ...changes, ...stampOf(place) });
}

export async function updateBinFees(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  bin: number,
  fees: { addFeeBuyE6: number; addFeeSellE6: number },
): Promise<void> {
  const key = { chainId: place.chainId, address };
  const pool = await db.find(poolTable, key);
  if (pool === null) return;
  const [buy, sell] = [new NumberList(pool.binAddFeesBuyE6), new NumberList(pool.binAddFeesSellE6)];
  buy.set(bin - pool.lowestBin, fees.addFeeBuyE6);
  sell.set(bin - pool.lowestBin, fees.addFeeSellE6);
  const changes = { binAddFeesBuyE6: buy.toString(), binAddFeesSellE6: sell.toString() };
  await db.update(poolTable, key).set({ ...changes, ...stampOf(place) });
}

/** The columns of a proposed change of price provider; null, or a proposal of the zero address, is none. */
export function pendingProviderColumns(
  proposal: { priceProvider: Address; executeAfter: bigint; block: number } | null,
): Pick<PoolRow, 'pendingPriceProvider' | 'pendingPriceProviderBlock' | 'pendingPriceProviderExecuteAfter'> {
  const pending = proposal?.priceProvider === zeroAddress ? null : proposal;
  return {
    pendingPriceProvider: pending?.priceProvider ?? null,
    pendingPriceProviderBlock: pending?.block ?? null,
    pendingPriceProviderExecuteAfter: pending?.executeAfter ?? null,
  };
}
