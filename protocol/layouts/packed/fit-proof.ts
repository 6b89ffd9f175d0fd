import { minBigint } from '../../fixed-point.ts';
import {
  levelAtInput,
  type SideCurve,
  type SwapAmounts,
  sideCurve,
  swapExactOutput,
  TOLERANCE,
  tolerance,
} from '../side-curve.ts';

/** Whether the pool gave for an input what the curve gives, or more by what its inputs are rounded up. */
export function explainsInput(curve: SideCurve, { amountIn, amountOut }: SwapAmounts): boolean {
  const least = levelAtInput(curve, amountIn - amountIn / TOLERANCE.part)?.cumulativeOutput ?? 0n;
  const most = levelAtInput(curve, amountIn + tolerance(amountIn))?.cumulativeOutput ?? 0n;
  // A fee on the whole is known to a raw unit.
  return amountOut >= least && amountOut <= most + 1n;
}

/** Whether the pool took for an output what the curve says, or less by what that is rounded up. */
export function explainsOutput(curve: SideCurve, taken: SwapAmounts): boolean {
  const { amountIn, amountOut } = swapExactOutput(curve, taken.amountOut);
  return amountOut === taken.amountOut && isRoundedUp(amountIn, taken.amountIn);
}

/** Whether the side ends where the pool did. Its whole output is not fitted, so that it has to be the same. */
export function endsAt({ levels }: SideCurve, { amountIn, amountOut }: SwapAmounts): boolean {
  const end = levels.at(-1);
  return end !== undefined && end.cumulativeOutput === amountOut && isRoundedUp(end.cumulativeInput, amountIn);
}

/** How far the price at the cursor may be from the pool's own: one part of it, and what raw units do not tell. */
const PRICE_TOLERANCE = { part: 1_000_000n, units: 4n } as const;

/**
 * Whether the pool's own price at the cursor is that of the curve, as nearly as fees are measured: a provider may have told
 * another quote than the pool gets. Says nothing where the bin at the cursor gives nothing.
 */
export function agreesWithPrice({ priced, zeroForOne, fees, bestX64, steps, levels }: SideCurve): boolean {
  const [first] = levels;
  if (!first || first.cumulativeOutput === 0n || steps[0]?.slice.available === 0n) return true;
  const computed = sideCurve(priced, zeroForOne, fees).bestX64;
  const smaller = minBigint(first.cumulativeInput, first.cumulativeOutput);
  const tolerated =
    computed / PRICE_TOLERANCE.part + (computed * PRICE_TOLERANCE.units) / smaller + PRICE_TOLERANCE.units;
  const off = computed > bestX64 ? computed - bestX64 : bestX64 - computed;
  return off <= tolerated;
}

/** Whether an amount is another one, or more by what measured factors and the rounding of prices add to it. */
function isRoundedUp(shown: bigint, taken: bigint): boolean {
  return shown >= taken && shown <= taken + 1n + taken / TOLERANCE.part;
}
