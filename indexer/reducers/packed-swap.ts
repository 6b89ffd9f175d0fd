import type { PackedBinSwapped, PackedSwapped } from '../../protocol/pool-events.ts';
import { addToList } from '../schema/number-list.ts';
import type { PoolStateRow } from '../schema/pools.ts';
import { required } from '../schema/required.ts';

/**
 * Computes what is certain after a packed swap: the balances of the pool, and sums of the words that its bins logged.
 * The cursor and the balances of bins stay unknown.
 *
 * @param parts what the swap changed in bins
 * @throws RangeError for a bin that the pool does not have
 */
export function settlePackedSwap(
  state: PoolStateRow,
  parts: readonly PackedBinSwapped[],
  { amount0Delta, amount1Delta }: PackedSwapped,
) {
  const { lowestBin, pool } = state;
  const moves0 = parts.map(({ bin, delta0 }) => [bin - lowestBin, delta0] as const);
  const moves1 = parts.map(({ bin, delta1 }) => [bin - lowestBin, delta1] as const);
  return {
    state: {
      balance0Raw: state.balance0Raw + amount0Delta,
      balance1Raw: state.balance1Raw + amount1Delta,
      binSwapDeltas0: addToList(required(state.binSwapDeltas0, 'swap deltas of pool', pool), moves0),
      binSwapDeltas1: addToList(required(state.binSwapDeltas1, 'swap deltas of pool', pool), moves1),
    },
    binFees: {
      high: parts.reduce((sum, { fees }) => sum + fees.high, 0n),
      low: parts.reduce((sum, { fees }) => sum + fees.low, 0n),
    },
  };
}
