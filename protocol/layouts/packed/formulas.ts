import type { SellAndBuyPrices, SwapAmounts } from '../../curve.ts';
import type { DepthLevel } from '../../depth.ts';
import { divCeil, E8, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import type { PoolState } from '../../pool-state.ts';
import type { Charge } from '../bin-fill.ts';
import type { PricedPool, ProviderQuote } from '../ladder.ts';
import { levelAtInput, swapExactOutput } from '../side-amounts.ts';
import { type Sides, sideCurve } from '../side-curve.ts';
import { addFeeX64, type SideFees } from '../side-fees.ts';

/** A swap to simulate, raw units: positive = exact input, negative = exact output. */
export interface Probe {
  readonly zeroForOne: boolean;
  readonly amountSpecified: bigint;
}

/** A guess at how base, bin and notional fee combine. */
export interface FeeFormula {
  readonly combine: 'sum' | 'product';
  readonly on: Charge['on'];
  /** Whether bins charge the notional fee with the others, or the swap as a whole pays it. */
  readonly notional: 'byBin' | 'atEnd';
}

/**
 * The formulas that are tried. `older` is the rule of the flat layout, with which public readers of the first release
 * agree. Those of the newer release put one combined fee on prices, which may be any of the other formulas. A further
 * guess only needs an entry here.
 */
export const FEE_FORMULAS = [
  { name: 'older', combine: 'sum', on: 'net', notional: 'atEnd' },
  { name: 'sumOnEdges', combine: 'sum', on: 'edges', notional: 'byBin' },
  { name: 'productOnEdges', combine: 'product', on: 'edges', notional: 'byBin' },
  { name: 'sumOnPrice', combine: 'sum', on: 'price', notional: 'byBin' },
  { name: 'productOnPrice', combine: 'product', on: 'price', notional: 'byBin' },
] as const satisfies readonly (FeeFormula & { readonly name: string })[];

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

/** Simulated swaps that a pool must have answered before a formula may stand in for it. */
const MIN_ANSWERS = 5;

/**
 * Finds the formulas that agree exactly with a pool's prices and with all swaps that it did not refuse, at one block
 * and quote. Several agree where they give the same units: any of them serves then.
 *
 * @param fills of the probes; null where the pool refused
 * @returns null when the pool refused too many probes to decide
 */
export function agreeingFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  probes: readonly Probe[],
  fills: readonly (SwapAmounts | null)[],
): readonly string[] | null {
  if (fills.filter((fill) => fill !== null).length < MIN_ANSWERS) return null;
  return FEE_FORMULAS.filter((formula) => {
    const sides = formulaCurve(priced, formula);
    const explains = (probe: Probe, fill: SwapAmounts | null | undefined) => !fill || gives(sides, probe, fill);
    return hasPrices(sides, prices) && probes.every((probe, index) => explains(probe, fills[index]));
  }).map(({ name }) => name);
}

/** Finds the formulas among these that give the pool's prices. Their sides are null unless all have the same levels. */
export function matchFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  names: readonly string[],
): { readonly names: readonly string[]; readonly sides: Sides | null } {
  const holding = FEE_FORMULAS.filter(({ name }) => names.includes(name))
    .map((formula) => ({ name: formula.name, sides: formulaCurve(priced, formula) }))
    .filter(({ sides }) => hasPrices(sides, prices));
  const [first, ...others] = holding.map(({ sides }) => sides);
  const agree = others.every((other) => first && isSameSides(first, other));
  return { names: holding.map(({ name }) => name), sides: first && agree ? first : null };
}

/** Whether a swap takes and gives exactly this on these sides. */
function gives({ bids, asks }: Sides, { zeroForOne, amountSpecified }: Probe, fill: SwapAmounts): boolean {
  const side = zeroForOne ? bids : asks;
  if (amountSpecified < 0n) {
    const { amountIn, amountOut } = swapExactOutput(side, -amountSpecified);
    return fill.amountIn === amountIn && fill.amountOut === amountOut;
  }
  const level = levelAtInput(side, amountSpecified);
  return fill.amountIn === level?.cumulativeInput && fill.amountOut === level.cumulativeOutput;
}

function hasPrices(sides: Sides, prices: SellAndBuyPrices): boolean {
  const { sellX64, buyX64 } = curvePrices(sides);
  return sellX64 === prices.sellX64 && buyX64 === prices.buyX64;
}

const isSameSides = (a: Sides, b: Sides): boolean =>
  isSameLevels(a.bids.levels, b.bids.levels) && isSameLevels(a.asks.levels, b.asks.levels);

function isSameLevels(a: readonly DepthLevel[], b: readonly DepthLevel[]): boolean {
  const isSame = (level: DepthLevel, other: DepthLevel | undefined) =>
    level.cumulativeInput === other?.cumulativeInput &&
    level.cumulativeOutput === other.cumulativeOutput &&
    level.priceX64 === other.priceX64;
  return a.length === b.length && a.every((level, index) => isSame(level, b[index]));
}
