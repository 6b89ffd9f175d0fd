import { divCeil, E6, E8, mulDivFloor, Q64 } from '../fixed-point.ts';
import type { BinState } from '../pool-state.ts';
import type { Charge } from './bin-fill.ts';

/** What one side of a pool charges at one block and quote. */
export interface SideFees {
  charge(bin: BinState, number: number): Charge;
  /** Notional fee on the swap as a whole, besides what bins charge: 1e8 = all. */
  readonly endFeeE8: number;
  /** Inputs are raised by this where charges are only measured, parts in 10^15; 0 for formulas. */
  readonly marginE15: bigint;
  /** Part of a bin's fee that leaves the bin, 1e6 = all; null where it is not known. */
  readonly leavesE6: number | null;
  /** Whether the charges are means over whole bins, so that a part of a bin may be charged less. */
  readonly isMean?: boolean;
}

/** Adds the notional fee of the whole swap to a price with fees, as a pool reports it. */
export function withEndFee(priceX64: bigint, endFeeE8: number, zeroForOne: boolean): bigint {
  if (endFeeE8 === 0) return priceX64;
  const rest = E8 - BigInt(endFeeE8);
  return zeroForOne ? mulDivFloor(priceX64, rest, E8) : divCeil(priceX64 * E8, rest);
}

/** What a bin charges a side on top of the base fee, Q64.64: 2^64 = 100%. */
export function addFeeX64({ addFeeSellE6, addFeeBuyE6 }: BinState, zeroForOne: boolean): bigint {
  return mulDivFloor(BigInt(zeroForOne ? addFeeSellE6 : addFeeBuyE6), Q64, E6);
}
