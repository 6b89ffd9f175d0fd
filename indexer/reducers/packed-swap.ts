import type { Halves, PackedBinSwapped, PackedSwapped } from '../../protocol/pool-events.ts';
import { required } from '../handlers/required.ts';
import { NumberList } from './number-list.ts';
import type { PoolStateRow } from './swap.ts';

/**
 * What is certain of a packed swap: the pool's balances, and sums of the words that its bins logged. The cursor and what
 * bins hold stay unknown.
 *
 * @param parts what it changed in bins
 * @throws RangeError for a bin that the pool does not have
 */
export function settlePackedSwap(
  state: PoolStateRow,
  parts: readonly PackedBinSwapped[],
  { amount0Delta, amount1Delta }: PackedSwapped,
): { state: Partial<PoolStateRow>; binFees: Halves } {
  const deltas0 = new NumberList(required(state.binSwapDeltas0, 'swap deltas of pool', state.pool));
  const deltas1 = new NumberList(required(state.binSwapDeltas1, 'swap deltas of pool', state.pool));
  let [high, low] = [0n, 0n];
  for (const { bin, delta0, delta1, fees } of parts) {
    deltas0.add(bin - state.lowestBin, delta0);
    deltas1.add(bin - state.lowestBin, delta1);
    high += fees.high;
    low += fees.low;
  }
  return {
    state: {
      balance0Raw: state.balance0Raw + amount0Delta,
      balance1Raw: state.balance1Raw + amount1Delta,
      binSwapDeltas0: deltas0.toString(),
      binSwapDeltas1: deltas1.toString(),
    },
    binFees: { high, low },
  };
}
