import { addLiquidity, administer, removeLiquidity, type SwapOrder, sendSwap } from '../actions.ts';
import type { Action } from '../pool-actions.fixture.ts';
import { administerPacked } from './actions.ts';
import { multipliers, type PackedPool, type PackedSetup } from './random-pool.fixture.ts';
import type { PackedState } from './storage.fixture.ts';

/**
 * The order of a swap.
 *
 * @param totals of the pool, scaled, of which it swaps a part
 */
export function swapOrder(
  { address, recipe }: PackedPool,
  { zeroForOne, exactInput, partE3 }: Extract<Action, { kind: 'swap' }>,
  { total0, total1 }: Pick<PackedState, 'total0' | 'total1'>,
): SwapOrder {
  const [multiplier0, multiplier1] = multipliers(recipe);
  const whole = exactInput === zeroForOne ? total0 / multiplier0 : total1 / multiplier1;
  const amount = (whole * BigInt(partE3)) / 1_000n + 1n;
  return { pool: address, zeroForOne, amountSpecified: exactInput ? amount : -amount };
}

/** The bin and the shares of a change of liquidity. */
export function liquidityChange(
  { recipe }: PackedPool,
  { kind, bin: index, partE3 }: Extract<Action, { kind: 'add' | 'remove' }>,
): { readonly bin: number; readonly shares: bigint } {
  const { bin, shares } = recipe.bins[index % recipe.bins.length] ?? { bin: 0, shares: 0n };
  return { bin, shares: (shares * BigInt(partE3)) / 1_000n + (kind === 'add' ? 1_000n : 0n) };
}

/** The bin whose additional fees are set, and these. */
export function binFees({ recipe }: PackedPool, { bin: index, addFee }: Extract<Action, { kind: 'fees' }>) {
  const { bin } = recipe.bins[index % recipe.bins.length] ?? { bin: 0 };
  return { bin, buy: addFee, sell: Math.floor(addFee / 2) };
}

/**
 * Does to a pool what an action says.
 *
 * @param totals as for {@link swapOrder}
 * @throws RevertedError when the pool refuses
 */
export async function performAction(
  { chain, deployment }: PackedSetup,
  pool: PackedPool,
  what: Action,
  totals: Pick<PackedState, 'total0' | 'total1'>,
): Promise<void> {
  const { provider: owner, curator, untrusted } = chain.roles;
  const { address } = pool;
  if (what.kind === 'swap') {
    await sendSwap(chain, deployment, swapOrder(pool, what, totals));
  } else if (what.kind === 'add') {
    await addLiquidity(chain, deployment, { pool: address, owner, bins: [liquidityChange(pool, what)] });
  } else if (what.kind === 'remove') {
    await removeLiquidity(chain, { pool: address, owner, bins: [liquidityChange(pool, what)] });
  } else if (what.kind === 'collect') {
    await administer(chain, deployment, { from: untrusted, functionName: 'collectPoolFees', args: [address] });
  } else {
    const { bin, buy, sell } = binFees(pool, what);
    await administer(chain, deployment, {
      from: curator,
      functionName: 'setPoolAdminFees',
      args: [address, what.spreadE6, what.notionalE8],
    });
    await administerPacked(chain, deployment, {
      from: curator,
      functionName: 'setPoolBinAdditionalFees',
      args: [address, bin, buy, sell],
    });
  }
}
