import { E8, mulDivFloor } from '../../protocol/fixed-point.ts';
import type { BinSwapped, SwapDeltas, Swapped } from '../../protocol/pool-events.ts';
import { listEntry } from '../schema/number-list.ts';
import type { PoolStateRow } from '../schema/pools.ts';
import { moveBins } from './bins.ts';

/**
 * Computes what a swap changes in its pool: totals, cursor, balances, bins, and accrued notional fees.
 *
 * @param parts what the swap changed in bins
 * @throws RangeError for a bin that the pool does not have
 */
export function settleSwap(state: PoolStateRow, parts: readonly BinSwapped[], event: Swapped) {
  const bins = sumParts(parts);
  const notional = notionalFee(bins, event.exactInput, state.notionalFeeE8);
  return {
    state: {
      curBinIdx: event.curBin,
      curPosInBin: event.posInBin,
      curBinDistFromProvidedPriceE6: Number(listEntry(state.binLowerDistsE6, event.curBin - state.lowestBin)),
      total0Scaled: addIfKnown(state.total0Scaled, bins.delta0Scaled),
      total1Scaled: addIfKnown(state.total1Scaled, bins.delta1Scaled),
      notionalFee0Scaled: addIfKnown(state.notionalFee0Scaled, notional.notionalFee0Scaled),
      notionalFee1Scaled: addIfKnown(state.notionalFee1Scaled, notional.notionalFee1Scaled),
      balance0Raw: state.balance0Raw + event.amount0Delta,
      balance1Raw: state.balance1Raw + event.amount1Delta,
      ...moveBins(state, parts),
    },
    fees: {
      zeroForOne: bins.delta0Scaled > 0n,
      lpFeeScaled: bins.lpFeeScaled,
      protocolFeeScaled: event.protocolFeeScaled,
      ...notional,
    },
  };
}

/** The sum, or null when the amount is unknown. */
export function addIfKnown(amount: bigint | null, change: bigint): bigint | null {
  return amount === null ? null : amount + change;
}

function sumParts(parts: readonly BinSwapped[]) {
  let [delta0Scaled, delta1Scaled, lpFeeScaled] = [0n, 0n, 0n];
  for (const part of parts) {
    delta0Scaled += part.delta0Scaled;
    delta1Scaled += part.delta1Scaled;
    lpFeeScaled += part.lpFeeScaled;
  }
  return { delta0Scaled, delta1Scaled, lpFeeScaled };
}

/**
 * Computes the notional fee, which no event reports, with the rate n = `notionalFeeE8`:
 * 1. Exact input: floor(output x n / 1e8), in the output token.
 * 2. Exact output: floor(net input x n / 1e8), in the input token. The net input has no bin fees. Of these, only the LP
 *    part is in the bins, so only that is subtracted.
 */
function notionalFee(bins: ReturnType<typeof sumParts>, exactInput: boolean, notionalFeeE8: number) {
  const { delta0Scaled, delta1Scaled, lpFeeScaled } = bins;
  const zeroForOne = delta0Scaled > 0n;
  const [input, output] = zeroForOne ? [delta0Scaled, -delta1Scaled] : [delta1Scaled, -delta0Scaled];
  const fee = mulDivFloor(exactInput ? output : input - lpFeeScaled, BigInt(notionalFeeE8), E8);
  return zeroForOne === exactInput
    ? { notionalFee0Scaled: 0n, notionalFee1Scaled: fee }
    : { notionalFee0Scaled: fee, notionalFee1Scaled: 0n };
}

/** Direction of a swap by its raw amounts; null when nothing moved. */
export function isZeroForOne({ amount0Delta, amount1Delta }: SwapDeltas): boolean | null {
  if (amount0Delta > 0n) return true;
  return amount1Delta > 0n ? false : null;
}
