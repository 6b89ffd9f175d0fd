import { divCeil, E6, E8, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import type { BinState, PoolState } from '../../pool-state.ts';
import type { Charge } from './bin-fill.ts';
import { baseFeeX64 } from './ladder.ts';
import type { ProviderQuote } from './provider-quote.ts';

/** What one side of a pool charges at one block and quote. */
export interface SideFees {
  charge(bin: BinState, number: number): Charge;
  /** Notional fee on the swap as a whole, beside what bins charge: 1e8 = all. */
  readonly endFeeE8: number;
  /** What inputs are raised by where the charges are known by measurement alone, parts in 10^15; 0 for formulas. */
  readonly marginE15: bigint;
  /** Whether the charges are means over whole bins, so that a part of a bin may be charged less. */
  readonly isMean?: boolean;
}

/** How base, bin and notional fee combine, as far as formulas are guessed. */
export interface FeeFormula {
  readonly combine: 'sum' | 'product';
  readonly on: Charge['on'];
  /** Whether bins charge the notional fee with the others, or it is taken of the swap as a whole. */
  readonly notional: 'byBin' | 'atEnd';
}

/** What a side charges by a formula. */
export function formulaFees(
  { combine, on, notional }: FeeFormula,
  { notionalFeeE8 }: PoolState,
  quote: ProviderQuote,
  zeroForOne: boolean,
): SideFees {
  const base = baseFeeX64(quote, zeroForOne);
  const notionalX64 = notional === 'byBin' ? mulDivFloor(BigInt(notionalFeeE8), Q64, E8) : 0n;
  return {
    charge(bin) {
      const binX64 = mulDivFloor(BigInt(zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6), Q64, E6);
      return { on, factorX64: combined(combine, base, binX64, notionalX64) };
    },
    endFeeE8: notional === 'atEnd' ? notionalFeeE8 : 0,
    marginE15: 0n,
  };
}

function combined(combine: FeeFormula['combine'], base: bigint, bin: bigint, notional: bigint): bigint {
  if (combine === 'sum') return Q64 + base + bin + notional;
  return mulDivCeil(mulDivCeil(Q64 + base, Q64 + bin, Q64), Q64 + notional, Q64);
}

/** A price with fees and the notional fee of the whole swap on top, as a pool shows it. */
export function withEndFee(priceX64: bigint, endFeeE8: number, zeroForOne: boolean): bigint {
  if (endFeeE8 === 0) return priceX64;
  const rest = E8 - BigInt(endFeeE8);
  return zeroForOne ? mulDivFloor(priceX64, rest, E8) : divCeil(priceX64 * E8, rest);
}
