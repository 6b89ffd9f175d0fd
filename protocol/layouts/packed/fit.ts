import type { SwapAmounts } from '../../curve.ts';
import { absBigint, divCeil, E8, maxBigint, minBigint, Q64, shiftRightCeil } from '../../fixed-point.ts';
import { binAt } from '../../pool-state.ts';
import { chargedPrice, fillExactOutput, fillWhole } from '../bin-fill.ts';
import { levelAtInput, swapExactOutput } from '../side-amounts.ts';
import { multipliers, type SideCurve, sideCurve } from '../side-curve.ts';
import { addFeeX64, type SideFees, withEndFee } from '../side-fees.ts';
import { TOLERANCE, tolerance } from '../tolerance.ts';
import { type FitPlan, furtherProbes, LIKELY, type Run } from './fit-plan.ts';
import { formulaFees } from './formulas.ts';

/** Offered inputs are raised by this, parts in 10^15: it covers the rounding of prices that are not tiny. */
const MARGIN_E15 = 100n;

/**
 * Fits a side's fees to what the pool answered, and proves the fit by the answers that it does not rest on.
 *
 * @param fills what the pool took and gave for each probe, those of {@link furtherProbes} last; null where it refused
 * @param bestX64 the pool's price at the cursor with fees
 * @returns null when no factors explain the answers
 */
export function fitSide(plan: FitPlan, fills: readonly (SwapAmounts | null)[], bestX64: bigint): SideCurve | null {
  const probes = [...plan.probes, ...furtherProbes(plan, fills)];
  const known = fills.filter((fill) => fill !== null);
  if (!plan.isFittable || known.length !== probes.length) return null;
  const end = known[plan.runs.length - 1];
  const isProof = (index: number) => index >= plan.runs.length && (probes[index] ?? 0n) < 0n;
  const inside = known.filter((_, index) => isProof(index));
  // Outputs that are shown can be had.
  if (known.some(({ amountOut }, index) => isProof(index) && -amountOut !== probes[index])) return null;
  const input = known[plan.probes.length - 1];
  // The notional fee comes first: where raw units cannot distinguish it from no fee, it offers less output.
  for (const endFeeE8 of new Set([plan.priced.state.notionalFeeE8, 0, ...measuredEndFee(plan, end)])) {
    const fees = fittedFees(plan, known, endFeeE8);
    const curve = fees && sideCurve(plan.priced, plan.zeroForOne, fees, bestX64);
    if (!curve || !inside.every((fill) => explainsOutput(curve, fill))) continue;
    if ((!end || endsAt(curve, end)) && (!input || explainsInput(curve, input))) return curve;
  }
  return null;
}

/** The most that the pool can have kept of the side's whole output, 1e8 = all; none when it kept nothing. */
function measuredEndFee({ priced, zeroForOne, runs }: FitPlan, end: SwapAmounts | undefined): readonly number[] {
  const last = runs.at(-1)?.steps.at(-1);
  if (last === undefined || end === undefined) return [];
  const [, multiplierOut] = multipliers({ priced, zeroForOne });
  const whole = last.outputBefore + last.slice.available;
  const kept = whole - end.amountOut * multiplierOut;
  // A pool rounds what it keeps down.
  return kept > 0n ? [Number(((kept + 1n) * E8 - 1n) / whole)] : [];
}

/** Computes factors run by run: each makes the input at the end of its run what the pool took there. */
function fittedFees(
  { priced, zeroForOne, runs }: FitPlan,
  fills: readonly SwapAmounts[],
  endFeeE8: number,
): SideFees | null {
  const [multiplierIn, multiplierOut] = multipliers({ priced, zeroForOne });
  const likely = formulaFees(LIKELY, priced.state, priced.quote, zeroForOne);
  const factors = new Map<number, bigint>();
  let input = 0n;
  for (const [index, run] of runs.entries()) {
    const { steps } = run;
    const [first, last, taken] = [steps[0], steps.at(-1), fills[index]];
    if (!first || !last || !taken) return null;
    const isEmptied = index === runs.length - 1;
    const net = isEmptied ? last.netBefore + fillWhole(last.slice).net : netAtEnd(run, multiplierOut);
    if (!isEmptied && taken.amountOut !== run.outputRaw) return null;
    // For an exact output the pool charges the fee on the whole on inputs before fees; what it took was rounded up.
    const endFee = isEmptied ? 0n : (net * BigInt(endFeeE8)) / E8;
    const charged = taken.amountIn * multiplierIn - endFee - input;
    const measured = net - first.netBefore;
    if (measured <= 0n) return null;
    const factorX64 = maxBigint(divCeil(charged * Q64, measured), Q64);
    for (const { slice } of steps) {
      factors.set(slice.bin, factorX64);
      input += divCeil(fillWhole(slice).net * factorX64, Q64);
    }
  }
  return {
    charge: (bin, number) => {
      const factorX64 = factors.get(number);
      return factorX64 === undefined ? likely.charge(bin, number) : { on: 'net', factorX64 };
    },
    endFeeE8,
    marginE15: MARGIN_E15,
    leavesE6: null,
  };
}

/** Input before fees of the whole raw units up to the end of a run; the last unit may end before its last bins. */
function netAtEnd({ steps, outputRaw }: Run, multiplierOut: bigint): bigint {
  const output = outputRaw * multiplierOut;
  const last = steps.findLast(({ outputBefore }) => outputBefore < output);
  return last ? last.netBefore + fillExactOutput(last.slice, output - last.outputBefore).net : 0n;
}

/**
 * Whether the pool gave for an input what the curve gives, or more by as much as the curve rounds inputs up. A probe
 * may empty the side: the pool then takes no more than all of it costs.
 */
function explainsInput(curve: SideCurve, { amountIn, amountOut }: SwapAmounts): boolean {
  if (amountIn > (curve.levels.at(-1)?.cumulativeInput ?? 0n)) return false;
  const least = levelAtInput(curve, amountIn - amountIn / TOLERANCE.part)?.cumulativeOutput ?? 0n;
  const most = levelAtInput(curve, amountIn + tolerance(amountIn))?.cumulativeOutput ?? 0n;
  // A fee on the whole is known to a raw unit.
  return amountOut >= least && amountOut <= most + 1n;
}

/** Whether the pool took for an output what the curve says, or less by as much as the curve rounds inputs up. */
function explainsOutput(curve: SideCurve, taken: SwapAmounts): boolean {
  const { amountIn, amountOut } = swapExactOutput(curve, taken.amountOut);
  return amountOut === taken.amountOut && isRoundedUp(amountIn, taken.amountIn);
}

/** Whether the side ends where the pool did. The whole output is not fitted, so it has to be equal. */
function endsAt({ levels }: SideCurve, { amountIn, amountOut }: SwapAmounts): boolean {
  const end = levels.at(-1);
  return end !== undefined && end.cumulativeOutput === amountOut && isRoundedUp(end.cumulativeInput, amountIn);
}

/** How far the price at the cursor may be from the pool's own: one part of it, and what raw units hide. */
const PRICE_TOLERANCE = { part: 1_000_000n, units: 4n } as const;

/** Factors of other bins are known less exactly: fees that grow a little may hide in their raw units. */
const OTHER_BIN = 8n;

/**
 * Whether the curve has the pool's own price at the cursor, as exactly as fees are measured. Else the provider may have
 * given us another quote than the pool. The fees of each bin have to explain it, apart from additional ones: anyone can
 * leave the bin at the cursor empty, which then shows nothing.
 */
export function agreesWithPrice({ priced, zeroForOne, fees, bestX64, steps, levels }: SideCurve): boolean {
  const cursor = steps[0]?.slice;
  const addFeeOf = (bin: number) => addFeeX64(binAt(priced.state, bin), zeroForOne);
  return steps.every(({ slice }, index) => {
    const [before, end] = [levels[index - 1], levels[index]];
    const input = (end?.cumulativeInput ?? 0n) - (before?.cumulativeInput ?? 0n);
    const smaller = minBigint(input, (end?.cumulativeOutput ?? 0n) - (before?.cumulativeOutput ?? 0n));
    if (!cursor || smaller <= 0n) return true;
    const added = addFeeOf(cursor.bin) - addFeeOf(slice.bin);
    const charge = { ...slice.charge, factorX64: maxBigint(slice.charge.factorX64 + added, Q64) };
    const priceX64 = chargedPrice({ ...cursor, charge }, cursor.position);
    const computed = withEndFee(priceX64, fees.endFeeE8, zeroForOne);
    const units = PRICE_TOLERANCE.units * (index === 0 ? 1n : OTHER_BIN);
    // An input that is a part of a unit shows a far worse price than the pool's own.
    const larger = maxBigint(computed, bestX64);
    const ofFees = shiftRightCeil(larger * absBigint(added), 64n);
    const tolerated = larger / PRICE_TOLERANCE.part + (larger * units) / smaller + units + ofFees;
    return absBigint(computed - bestX64) <= tolerated;
  });
}

/**
 * Whether an offered input is the one that the pool took, or higher by what measured factors and rounded prices add. A
 * run's factor rests on two inputs that the pool rounded up: between them it adds nearly a raw unit, with the margin
 * more.
 */
function isRoundedUp(offered: bigint, taken: bigint): boolean {
  return offered >= taken && offered <= taken + tolerance(taken);
}
