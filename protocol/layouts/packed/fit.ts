import { divCeil, E6, E8, MAX_INT128, maxBigint, minBigint, Q64 } from '../../fixed-point.ts';
import { fillExactOutput, fillWhole } from './bin-fill.ts';
import { endsAt, explainsInput, explainsOutput, tolerance } from './fit-proof.ts';
import type { PricedPool } from './ladder.ts';
import { multipliers, type SideCurve, type SideStep, type SwapAmounts, sideCurve } from './side-curve.ts';
import { type FeeFormula, formulaFees, type SideFees } from './side-fees.ts';

/** Runs of bins that a side may have: one with more is cheaper to simulate whole. */
const MOST_RUNS = 8;
/** What shown inputs are raised by, parts in 10^15: what the rounding of prices may be worth where they are not tiny. */
const MARGIN_E15 = 100n;
/** Where in its bin a proof ends, millionths of the bin's output: far enough from the edges to see a bent curve. */
const INSIDE_E6 = 400_000n;
/** Parts of a bin at whose ends the exact input may end that is drawn at random. */
const PARTS = 997n;

/** Scaled units by which a bin's input may be rounded: before fees and with them. */
const ROUNDED_PER_BIN = 2n;

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
  /**
   * Swaps to simulate, raw units, exact outputs negative. One to the end of each run tells its factor: an exact output, but
   * for the last run an exact input that empties the side, which tells what the pool keeps of the output too. As proofs, an
   * exact output that ends inside each run, and an exact input that ends inside the first of the bins that hold most.
   */
  readonly probes: readonly bigint[];
}

/**
 * Plans the fit of a side whose ladder is known and whose fees are not.
 *
 * @param draw a natural number, drawn at random: it decides in which bin of a run its factor is proved, and where in its bin the exact input ends
 * @returns null when whole raw units are too coarse for the side, or it has too many runs
 */
export function planFit(priced: PricedPool, zeroForOne: boolean, draw: number): FitPlan | null {
  const likely = sideCurve(priced, zeroForOne, formulaFees(LIKELY, priced.state, priced.quote, zeroForOne));
  const runs = runsOf(likely);
  if (runs.length > MOST_RUNS || isTooCoarse(likely, runs)) return null;
  if (runs.length === 0) return { priced, zeroForOne, runs, probes: [] };
  const [multiplierIn] = multipliers(likely);
  const whole = likely.levels.at(-1)?.cumulativeInput ?? 0n;
  return {
    priced,
    zeroForOne,
    runs,
    probes: [
      ...runs.slice(0, -1).map(({ outputRaw }) => -outputRaw),
      minBigint(2n * whole + 1n, MAX_INT128 / multiplierIn),
      ...runs.map((run) => -outputInside(likely, run, draw)),
      inputInFullBin(likely, draw),
    ],
  };
}

/**
 * Fits a side's fees to what the pool answered, and proves the fit by the answers that it does not rest on.
 *
 * @param fills what the pool took and gave for each probe; null where it refused
 * @param bestX64 the pool's price at the cursor with fees
 * @returns null when no factors explain the answers
 */
export function fitSide(plan: FitPlan, fills: readonly (SwapAmounts | null)[], bestX64: bigint): SideCurve | null {
  const known = fills.filter((fill) => fill !== null);
  if (known.length !== plan.probes.length) return null;
  const end = known[plan.runs.length - 1];
  const inside = known.slice(plan.runs.length, -1);
  const input = known.at(-1);
  // The notional fee first: where raw units do not tell it from no fee, it shows less output.
  for (const endFeeE8 of new Set([plan.priced.state.notionalFeeE8, 0, ...measuredEndFee(plan, end)])) {
    const fees = fittedFees(plan, known, endFeeE8);
    const curve = fees && sideCurve(plan.priced, plan.zeroForOne, fees, bestX64);
    if (!curve || !inside.every((fill) => explainsOutput(curve, fill))) continue;
    if ((!end || endsAt(curve, end)) && (!input || explainsInput(curve, input))) return curve;
  }
  return null;
}

/**
 * Whether raw units hide what a fit has to see: a run that ends with the raw unit in which it begins has no factor, and
 * where the rounding of every bin counts, amounts depend on the rule.
 */
function isTooCoarse({ steps, levels, ...side }: SideCurve, runs: readonly Run[]): boolean {
  const [multiplierIn] = multipliers(side);
  const rounded = levels.some(({ cumulativeInput }, index) => {
    const filled = BigInt(steps.slice(0, index + 1).filter(({ slice }) => slice.available > 0n).length);
    return ROUNDED_PER_BIN * (filled + 1n) > tolerance(cumulativeInput) * multiplierIn;
  });
  return rounded || runs.some(({ outputRaw }, index) => outputRaw <= (runs[index - 1]?.outputRaw ?? 0n));
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

/** An output that ends inside a bin of a run, raw units. */
function outputInside(side: SideCurve, { steps }: Run, draw: number): bigint {
  const [, multiplierOut] = multipliers(side);
  const step = steps[draw % steps.length];
  const output = step ? step.outputBefore + (step.slice.available * INSIDE_E6) / E6 : 0n;
  return maxBigint(output / multiplierOut, 1n);
}

/** An input that ends inside the nearest bin that holds at least half of what any does, raw units: about as cheap as can be. */
function inputInFullBin(side: SideCurve, draw: number): bigint {
  const [multiplierIn] = multipliers(side);
  const most = side.steps.reduce((max, { slice }) => maxBigint(max, slice.available), 0n);
  const step = side.steps.find(({ slice }) => 2n * slice.available >= most);
  if (!step) return 1n;
  const part = (fillWhole(step.slice).input * (1n + (BigInt(draw) % PARTS))) / (PARTS + 1n);
  return maxBigint((step.inputBefore + part) / multiplierIn, 1n);
}

/** The most that the pool can have kept of the side's whole output, 1e8 = all, where it kept some. */
function measuredEndFee({ priced, zeroForOne, runs }: FitPlan, end: SwapAmounts | undefined): readonly number[] {
  const last = runs.at(-1)?.steps.at(-1);
  if (last === undefined || end === undefined) return [];
  const [, multiplierOut] = multipliers({ priced, zeroForOne });
  const whole = last.outputBefore + last.slice.available;
  const kept = whole - end.amountOut * multiplierOut;
  // A pool rounds what it keeps down.
  return kept > 0n ? [Number(((kept + 1n) * E8 - 1n) / whole)] : [];
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
  for (const [index, run] of runs.entries()) {
    const { steps } = run;
    const [first, last, taken] = [steps[0], steps.at(-1), fills[index]];
    if (!first || !last || !taken) return null;
    const isEmptied = index === runs.length - 1;
    const net = isEmptied ? last.netBefore + fillWhole(last.slice).net : netAtEnd(run, multiplierOut);
    if (!isEmptied && taken.amountOut !== run.outputRaw) return null;
    // The pool took the fee on the whole from the inputs before fees of an exact output; what it took was rounded up.
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
  };
}

/** Input before fees of the whole raw units up to the end of a run: the last of them may end before its last bins. */
function netAtEnd({ steps, outputRaw }: Run, multiplierOut: bigint): bigint {
  const output = outputRaw * multiplierOut;
  const last = steps.findLast(({ outputBefore }) => outputBefore < output);
  return last ? last.netBefore + fillExactOutput(last.slice, output - last.outputBefore).net : 0n;
}
