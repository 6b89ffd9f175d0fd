import { divCeil, MAX_INT128, maxBigint, minBigint, Q64 } from '../../fixed-point.ts';
import { fillExactOutput } from './bin-fill.ts';
import type { PricedPool } from './ladder.ts';
import { levelAtInput, multipliers, type SideCurve, type SideStep, type SwapAmounts, sideCurve } from './side-curve.ts';
import { type FeeFormula, formulaFees, type SideFees } from './side-fees.ts';

/** Probes of fees that a side may cost; a side that needs more is cheaper to simulate whole. */
const MOST_RUNS = 16;
/** What shown inputs are raised by, parts in 10^15: prices round by less wherever two curves agree at all. */
const MARGIN_E15 = 200n;
/** How far a curve may be from the chain's: raw units, and a part of the amount. */
const TOLERANCE = { units: 2n, part: 10n ** 12n } as const;
const E6 = 1_000_000n;
const E8 = 100_000_000n;
/** Where in a bin the probe inside is, millionths of its input: far enough from its edges to see a bent curve. */
const INSIDE_E6 = 400_000n;

/** Near enough to any rule to say where a probe lands. */
const LIKELY: FeeFormula = { combine: 'sum', on: 'net', notional: 'byBin' };

/** Neighbouring bins of one additional fee, as far as they hold anything: a pool's fees act on them as one factor. */
interface Run {
  readonly steps: readonly SideStep[];
  /** The most whole raw units that a swap takes up to the end of the run. */
  readonly outputRaw: bigint;
}

/** What to ask of a pool to know the fees of a side. */
export interface FitPlan {
  readonly priced: PricedPool;
  readonly zeroForOne: boolean;
  readonly runs: readonly Run[];
  /** Swaps to simulate, raw units: negative = exact output, one at the end of each run; positive = exact input. */
  readonly probes: readonly bigint[];
}

/**
 * Plans the fit of a side whose ladder is known and whose fees are not.
 *
 * @param draw any number, drawn at random: it decides which bin proves the fit
 * @returns null when the side cannot be told apart by whole raw units, or not cheaply
 */
export function planFit(priced: PricedPool, zeroForOne: boolean, draw: number): FitPlan | null {
  const likely = sideCurve(priced, zeroForOne, formulaFees(LIKELY, priced.state, priced.quote, zeroForOne));
  const runs = runsOf(likely);
  if (runs.length > MOST_RUNS || runs.some(({ outputRaw }, index) => outputRaw <= (runs[index - 1]?.outputRaw ?? 0n)))
    return null;
  const probes = runs.map(({ outputRaw }) => -outputRaw);
  return { priced, zeroForOne, runs, probes: runs.length === 0 ? [] : [...probes, ...proofs(likely, draw)] };
}

/**
 * Fits a side's fees to what the pool answered, and proves the fit by the last two answers.
 *
 * @param fills what the pool took and gave for each probe; null where it refused
 * @param bestX64 the pool's price at the cursor with fees
 * @returns null when no factors explain the answers
 */
export function fitSide(plan: FitPlan, fills: readonly (SwapAmounts | null)[], bestX64: bigint): SideCurve | null {
  const { notionalFeeE8 } = plan.priced.state;
  const known = fills.filter((fill) => fill !== null);
  if (known.length !== plan.probes.length) return null;
  for (const endFeeE8 of new Set([0, notionalFeeE8])) {
    const fees = fittedFees(plan, known, endFeeE8);
    const curve = fees && sideCurve(plan.priced, plan.zeroForOne, fees, bestX64);
    if (curve && known.slice(plan.runs.length).every((fill) => explains(curve, fill)) && endsThere(curve, plan, known))
      return curve;
  }
  return null;
}

function runsOf(curve: SideCurve): readonly Run[] {
  const [, multiplierOut] = multipliers(curve);
  const groups: SideStep[][] = [];
  for (const step of curve.steps.filter(({ slice }) => slice.available > 0n)) {
    const group = groups.at(-1);
    if (group?.at(-1)?.slice.charge.factorX64 === step.slice.charge.factorX64) group?.push(step);
    else groups.push([step]);
  }
  return groups.map((steps) => {
    const last = steps.at(-1);
    return { steps, outputRaw: last ? (last.outputBefore + last.slice.available) / multiplierOut : 0n };
  });
}

/** Inputs that prove a fit: one that empties the side, and one that ends inside a bin. */
function proofs(likely: SideCurve, draw: number): readonly bigint[] {
  const { levels, steps } = likely;
  const [multiplierIn] = multipliers(likely);
  const filled = levels.flatMap((level, index) =>
    (steps[index]?.slice.available ?? 0n) > 0n ? [{ level, before: levels[index - 1]?.cumulativeInput ?? 0n }] : [],
  );
  const drawn = filled[Math.abs(Math.trunc(draw)) % filled.length];
  const whole = 2n * (levels.at(-1)?.cumulativeInput ?? 0n) + 1n;
  const inside = drawn ? drawn.before + ((drawn.level.cumulativeInput - drawn.before) * INSIDE_E6) / E6 : 0n;
  return [minBigint(whole, MAX_INT128 / multiplierIn), maxBigint(inside, 1n)];
}

/** Factors of the runs, one after another: each makes the input at the end of its run what the pool took there. */
function fittedFees(
  { priced, zeroForOne, runs }: FitPlan,
  fills: readonly SwapAmounts[],
  endFeeE8: number,
): SideFees | null {
  const [multiplierIn, multiplierOut] = multipliers({ priced, zeroForOne });
  const likely = formulaFees(LIKELY, priced.state, priced.quote, zeroForOne);
  const factors = new Map<number, bigint>();
  let input = 0n;
  for (const [index, { steps, outputRaw }] of runs.entries()) {
    const [first, last] = [steps[0], steps.at(-1)];
    const taken = fills[index];
    if (!first || !last || !taken || taken.amountOut !== outputRaw) return null;
    // The pool took the fee on the whole from the inputs before fees; what it took was rounded up.
    const net = last.netBefore + fillExactOutput(last.slice, outputRaw * multiplierOut - last.outputBefore).net;
    const charged = taken.amountIn * multiplierIn - (net * BigInt(endFeeE8)) / E8 - input;
    const measured = net - first.netBefore;
    if (measured <= 0n) return null;
    const factorX64 = maxBigint(divCeil(charged * Q64, measured), Q64);
    for (const { slice } of steps) {
      factors.set(slice.bin, factorX64);
      input += divCeil(fillExactOutput(slice, slice.available).net * factorX64, Q64);
    }
  }
  return {
    charge: (bin, number) => {
      const factorX64 = factors.get(number);
      return factorX64 === undefined ? likely.charge(bin, number) : { on: 'net', factorX64 };
    },
    endFeeE8,
    marginE15: MARGIN_E15,
  };
}

/** Whether what the pool gave for an input is what the curve gives, but for the tolerance on both amounts. */
function explains(curve: SideCurve, { amountIn, amountOut }: SwapAmounts): boolean {
  const off = tolerance(amountIn);
  const least = levelAtInput(curve, maxBigint(amountIn - off, 0n))?.cumulativeOutput ?? 0n;
  const most = levelAtInput(curve, amountIn + off)?.cumulativeOutput ?? 0n;
  return amountOut >= least - tolerance(least) && amountOut <= most + tolerance(most);
}

/** Whether the side ends where the pool did. */
function endsThere({ levels }: SideCurve, { runs }: FitPlan, fills: readonly SwapAmounts[]): boolean {
  const taken = fills[runs.length]?.amountIn ?? 0n;
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  const off = tolerance(taken);
  return end >= taken - off && end <= taken + off;
}

function tolerance(amount: bigint): bigint {
  return TOLERANCE.units + amount / TOLERANCE.part;
}
