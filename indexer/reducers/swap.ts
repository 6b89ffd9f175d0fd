import { E8, mulDivFloor } from '../../protocol/fixed-point.ts';
import type { BinSwapped, Swapped } from '../../protocol/pool-events.ts';
import type { poolState } from '../schema/pools.ts';

export type PoolStateRow = typeof poolState.$inferSelect;

/** A pool's totals and open swap after one more bin's part of a swap. */
export function addBinSwap(state: PoolStateRow, { delta0Scaled, delta1Scaled, lpFeeScaled }: BinSwapped) {
  return {
    total0Scaled: state.total0Scaled + delta0Scaled,
    total1Scaled: state.total1Scaled + delta1Scaled,
    openSwap0Scaled: state.openSwap0Scaled + delta0Scaled,
    openSwap1Scaled: state.openSwap1Scaled + delta1Scaled,
    openSwapLpFeeScaled: state.openSwapLpFeeScaled + lpFeeScaled,
  } satisfies Partial<PoolStateRow>;
}

/** What a swap cost its trader, scaled: bin fees in the input token, the notional fee in one of the two. */
export interface SwapFees {
  /** True when token0 was the input. */
  readonly zeroForOne: boolean;
  readonly lpFeeScaled: bigint;
  readonly protocolFeeScaled: bigint;
  readonly notionalFee0Scaled: bigint;
  readonly notionalFee1Scaled: bigint;
}

/**
 * Closes the open swap: new cursor, balances, notional fee accrued.
 *
 * @param lowerDistE6 signed distance of the lower edge of the bin that the cursor is in now
 */
export function settleSwap(
  state: PoolStateRow,
  event: Swapped,
  lowerDistE6: number,
): { state: Partial<PoolStateRow>; fees: SwapFees } {
  const notional = notionalFee(state, event.exactInput);
  return {
    state: {
      curBinIdx: event.curBin,
      curPosInBin: event.posInBin,
      curBinDistFromProvidedPriceE6: lowerDistE6,
      notionalFee0Scaled: state.notionalFee0Scaled + notional.fee0Scaled,
      notionalFee1Scaled: state.notionalFee1Scaled + notional.fee1Scaled,
      balance0Raw: state.balance0Raw + event.amount0Delta,
      balance1Raw: state.balance1Raw + event.amount1Delta,
      openSwap0Scaled: 0n,
      openSwap1Scaled: 0n,
      openSwapLpFeeScaled: 0n,
    },
    fees: {
      zeroForOne: state.openSwap0Scaled > 0n,
      lpFeeScaled: state.openSwapLpFeeScaled,
      protocolFeeScaled: event.protocolFeeScaled,
      notionalFee0Scaled: notional.fee0Scaled,
      notionalFee1Scaled: notional.fee1Scaled,
    },
  };
}

/**
 * The pool emits no notional fee. It is floor(output x n / 1e8) of the output of an exact input, and floor(net input x
 * n / 1e8) on the input of an exact output, where net is before bin fees: of a bin fee only the LP part is in the bin.
 */
function notionalFee(
  { openSwap0Scaled, openSwap1Scaled, openSwapLpFeeScaled, notionalFeeE8 }: PoolStateRow,
  exactInput: boolean,
): { fee0Scaled: bigint; fee1Scaled: bigint } {
  const zeroForOne = openSwap0Scaled > 0n;
  const input = zeroForOne ? openSwap0Scaled : openSwap1Scaled;
  const output = zeroForOne ? -openSwap1Scaled : -openSwap0Scaled;
  const base = exactInput ? output : input - openSwapLpFeeScaled;
  const fee = mulDivFloor(base, BigInt(notionalFeeE8), E8);
  return zeroForOne === exactInput ? { fee0Scaled: 0n, fee1Scaled: fee } : { fee0Scaled: fee, fee1Scaled: 0n };
}

/** Direction of a swap by its raw amounts; null when nothing moved. */
export function isZeroForOne({ amount0Delta, amount1Delta }: Swapped): boolean | null {
  if (amount0Delta > 0n) return true;
  return amount1Delta > 0n ? false : null;
}
