import { priceAtFloor } from '../../bin-price.ts';
import type { SwapAmounts } from '../../curve.ts';
import { absBigint, E8, MAX_INT128, maxBigint, minBigint } from '../../fixed-point.ts';
import { fillWhole } from '../bin-fill.ts';
import type { PricedPool } from '../ladder.ts';
import { multipliers, type SideCurve, type SideStep, sideCurve } from '../side-curve.ts';
import { tolerance } from '../tolerance.ts';
import { type FeeFormula, formulaFees } from './formulas.ts';

/** Most runs of bins for a fit: a side with more is cheaper to simulate whole. */
const MAX_RUNS = 8;
/** Random swaps end at one of this many points of a run's output, or of a bin's input. */
const PARTS = 997n;
/**
 * Where the input of an even run times its relative price move is at least this many raw units, fees that grow with the
 * price bend the curve so far that a proof anywhere shows it. In other runs every edge is proved.
 */
const FINE = 1_000_000n;
/** Most edges to prove: a side with more is simulated whole. */
const MAX_EDGES = 12;

/** Outputs that a trial of formulas asks for inside each run, on a side with fewer runs than this. */
const TRIAL_INSIDES = 3n;
const FEW_RUNS = 3;

/** Scaled units by which roundings may change a bin's input: one before fees, one with them. */
const ROUNDED_PER_BIN = 2n;

/** Close enough to every formula to say where a probe ends. */
export const LIKELY: FeeFormula = { combine: 'sum', on: 'net', notional: 'byBin' };

/** Neighbouring bins with one additional fee, without the empty ones: a pool's fees act on them as one factor. */
export interface Run {
  readonly steps: readonly SideStep[];
  /** The most whole raw units of output that a swap takes from the cursor to the end of the run. */
  readonly outputRaw: bigint;
}

/** The swaps that show the fees of a side. */
export interface FitPlan {
  readonly priced: PricedPool;
  readonly zeroForOne: boolean;
  readonly runs: readonly Run[];
  /**
   * Swaps to simulate, raw units, exact outputs negative, in this order:
   * 1. To the end of each run, which shows its factor: an exact output, but for the last run an exact input that
   *    empties the side, which also shows what the pool keeps of the output.
   * 2. As proofs, exact outputs that end inside each run, and others to the edges inside runs of small amounts.
   * 3. As a proof, an exact input that ends inside the first bin that holds at least half of what any does.
   */
  readonly probes: readonly bigint[];
  /** False when whole raw units are too coarse for the side, or it has too many runs or edges to prove. */
  readonly isFittable: boolean;
}

/**
 * Plans the fit of a side whose ladder is known and whose fees are not.
 *
 * @param draw random natural number: decides where inside runs and bins the proofs end
 * @param isTrial whether the probes also have to show which formulas agree: a side of few runs then has more of them
 */
export function planFit(priced: PricedPool, zeroForOne: boolean, draw: number, isTrial = false): FitPlan {
  const likely = sideCurve(priced, zeroForOne, formulaFees(LIKELY, priced.state, priced.quote, zeroForOne));
  const all = runsOf(likely);
  const runs = all.slice(0, MAX_RUNS);
  if (runs.length === 0) return { priced, zeroForOne, runs, probes: [], isFittable: true };
  const edges = runs.filter((run) => !isFine(likely, run)).flatMap((run) => edgesInside(likely, run));
  const isFittable = all.length <= MAX_RUNS && edges.length <= MAX_EDGES && !isTooCoarse(likely, runs);
  const [multiplierIn] = multipliers(likely);
  const whole = likely.levels.at(-1)?.cumulativeInput ?? 0n;
  const insides = isTrial && runs.length < FEW_RUNS ? TRIAL_INSIDES : 1n;
  const draws = Array.from({ length: Number(insides) }, (_, index) => BigInt(draw) + (BigInt(index) * PARTS) / insides);
  return {
    priced,
    zeroForOne,
    runs,
    probes: [
      ...runs.slice(0, -1).map(({ outputRaw }) => -outputRaw),
      minBigint(2n * whole + 1n, MAX_INT128 / multiplierIn),
      ...runs.flatMap((run) => draws.map((drawn) => -outputInside(likely, run, drawn))),
      ...edges.slice(0, MAX_EDGES).map((output) => -output),
      inputInFullBin(likely, BigInt(draw)),
    ],
    isFittable,
  };
}

/**
 * Swaps to simulate after those of a plan, as further proofs: what the side gave at its end, as an exact output, where
 * the pool keeps a part of the output or may keep so little that raw units hide it.
 * It may round exact outputs down then.
 *
 * @param fills what the pool took and gave for each probe of the plan; null where it refused
 */
export function furtherProbes({ priced, zeroForOne, runs }: FitPlan, fills: readonly (SwapAmounts | null)[]): bigint[] {
  const last = runs.at(-1)?.steps.at(-1);
  const end = fills[runs.length - 1];
  if (!last || !end || end.amountOut === 0n) return [];
  const { notionalFeeE8 } = priced.state;
  const [, multiplierOut] = multipliers({ priced, zeroForOne });
  const whole = (last.outputBefore + last.slice.available) / multiplierOut;
  const isFeeHidden = notionalFeeE8 > 0 && whole * BigInt(notionalFeeE8) < 2n * E8;
  return end.amountOut < whole || isFeeHidden ? [-end.amountOut] : [];
}

/**
 * Whether raw units are too coarse for a fit: a run that ends in the raw unit in which it begins shows no factor, and
 * where the rounding of every bin counts, amounts depend on the formula.
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

/**
 * Whether fees that grow with the price would visibly bend the curve over a run. The bend at an edge is what the inputs
 * before it would owe by their own prices, less what they owe by the mean price of the run. With even inputs it is an
 * eighth of input times price move. A bend that is large at one edge is large at most places.
 */
function isFine(side: SideCurve, { steps }: Run): boolean {
  const [multiplierIn] = multipliers(side);
  const [first] = steps;
  if (!first) return true;
  const start = priceAtFloor(first.slice.edges, first.slice.position);
  const parts = steps.map(({ slice }) => {
    const { input, position } = fillWhole(slice);
    const far = priceAtFloor(slice.edges, position);
    // Twice the price move from the start of the run to the middle of the bin.
    const moved = priceAtFloor(slice.edges, slice.position) + far - 2n * start;
    return { input, owed: input * absBigint(moved), far };
  });
  const whole = parts.reduce((sum, { input }) => sum + input, 0n);
  const owed = parts.reduce((sum, part) => sum + part.owed, 0n);
  const price = parts.reduce((most, { far }) => maxBigint(most, far), start);
  let [inputBefore, owedBefore] = [0n, 0n];
  return parts.some((part) => {
    inputBefore += part.input;
    owedBefore += part.owed;
    const bend = inputBefore * owed - owedBefore * whole;
    return 4n * absBigint(bend) >= FINE * whole * price * multiplierIn;
  });
}

/** Outputs to the edges between the bins of a run, raw units. */
function edgesInside(side: SideCurve, { steps, outputRaw }: Run): readonly bigint[] {
  const [, multiplierOut] = multipliers(side);
  const edges = steps.map(({ outputBefore, slice }) => (outputBefore + slice.available) / multiplierOut);
  return [...new Set(edges)].filter((edge) => edge > 0n && edge < outputRaw);
}

/** An output that ends inside a run, raw units: each part of what the run gives is as likely as the others. */
function outputInside(side: SideCurve, { steps }: Run, draw: bigint): bigint {
  const [, multiplierOut] = multipliers(side);
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return 1n;
  const whole = last.outputBefore + last.slice.available - first.outputBefore;
  const part = (whole * (1n + (draw % PARTS))) / (PARTS + 1n);
  return maxBigint((first.outputBefore + part) / multiplierOut, 1n);
}

/** An input, raw units, that ends inside the nearest bin holding half of what any does: a near one costs little gas. */
function inputInFullBin(side: SideCurve, draw: bigint): bigint {
  const [multiplierIn] = multipliers(side);
  const most = side.steps.reduce((max, { slice }) => maxBigint(max, slice.available), 0n);
  const step = side.steps.find(({ slice }) => 2n * slice.available >= most);
  if (!step) return 1n;
  const part = (fillWhole(step.slice).input * (1n + (draw % PARTS))) / (PARTS + 1n);
  return maxBigint((step.inputBefore + part) / multiplierIn, 1n);
}
