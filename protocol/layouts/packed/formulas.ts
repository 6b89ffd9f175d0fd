import type { SellAndBuyPrices } from '../../curve.ts';
import { divCeil, E8, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import type { PoolState } from '../../pool-state.ts';
import type { Charge } from '../bin-fill.ts';
import type { PricedPool, ProviderQuote } from '../ladder.ts';
import { type SideCurve, sideCurve } from '../side-curve.ts';
import { addFeeX64, type SideFees } from '../side-fees.ts';

/** How base, bin and notional fee combine, as far as formulas are guessed. */
export interface FeeFormula {
  readonly combine: 'sum' | 'product';
  readonly on: Charge['on'];
  /** Whether bins charge the notional fee with the others, or it is taken of the swap as a whole. */
  readonly notional: 'byBin' | 'atEnd';
}

/**
 * How base, bin and notional fee may combine. The older rule is that of the flat layout, with which public readers of the
 * first release agree; those of the newer release put one combined fee on prices, which may be any of the others. One more
 * here is all that it takes to try it.
 */
export const FEE_FORMULAS = [
  { name: 'older', combine: 'sum', on: 'net', notional: 'atEnd' },
  { name: 'sumOnEdges', combine: 'sum', on: 'edges', notional: 'byBin' },
  { name: 'productOnEdges', combine: 'product', on: 'edges', notional: 'byBin' },
  { name: 'sumOnPrice', combine: 'sum', on: 'price', notional: 'byBin' },
  { name: 'productOnPrice', combine: 'product', on: 'price', notional: 'byBin' },
] as const satisfies readonly (FeeFormula & { readonly name: string })[];

/** Both sides of a pool, each listing every bin from the current one to the pool's last in that direction. */
export interface Sides {
  readonly bids: SideCurve;
  readonly asks: SideCurve;
}

/** The curve of a pool if its fees combine by this formula. */
export function formulaCurve(priced: PricedPool, formula: FeeFormula): Sides {
  const side = (zeroForOne: boolean) =>
    sideCurve(priced, zeroForOne, formulaFees(formula, priced.state, priced.quote, zeroForOne));
  return { bids: side(true), asks: side(false) };
}

/** The prices at the cursor that `getSellAndBuyPrices` gives if the curve is right. */
export function curvePrices({ bids, asks }: Sides): SellAndBuyPrices {
  return { sellX64: bids.bestX64, buyX64: asks.bestX64 };
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
    charge: (bin) => ({ on, factorX64: combined(combine, base, addFeeX64(bin, zeroForOne), notionalX64) }),
    endFeeE8: notional === 'atEnd' ? notionalFeeE8 : 0,
    marginE15: 0n,
    leavesE6: null,
  };
}

function combined(combine: FeeFormula['combine'], base: bigint, bin: bigint, notional: bigint): bigint {
  if (combine === 'sum') return Q64 + base + bin + notional;
  return mulDivCeil(mulDivCeil(Q64 + base, Q64 + bin, Q64), Q64 + notional, Q64);
}

/** What the provider's spread costs a side: the distance of bid or ask from the reference, Q64.64. */
export function baseFeeX64({ bidX64, askX64, referenceX64 }: ProviderQuote, zeroForOne: boolean): bigint {
  return (zeroForOne ? divCeil(referenceX64 * Q64, bidX64) : divCeil(askX64 * Q64, referenceX64)) - Q64;
}
