import { priceAtFloor } from '../../bin-price.ts';
import { MAX_INT128, maxBigint, minBigint } from '../../fixed-point.ts';
import { fillWhole } from '../bin-fill.ts';
import type { PricedPool } from '../ladder.ts';
import { multipliers, type SideCurve, type SideStep, sideCurve, tolerance } from '../side-curve.ts';
import { type FeeFormula, formulaFees } from './formulas.ts';

/** Runs of bins that a side may have: one with more is cheaper to simulate whole. */
const MAX_RUNS = 8;
/** Parts of a run's output, and of a bin's input, at whose ends the swaps may end that are drawn at random. */
const PARTS = 997n;
/**
 * Where the price moves over a run of even inputs by at least this many raw units of its input, fees that grow with it bend
 * the curve by so much that a proof anywhere shows it. In other runs every edge is proved.
 */
const FINE = 1_000_000n;
/** Edges to be proved that a side may have: one with more is simulated whole. */
const MAX_EDGES = 12;

/** Outputs inside each run that a trial of formulas asks for, of a side with fewer runs than this. */
const TRIAL_INSIDES = 3n;
const FEW_RUNS = 3;

/** Scaled units by which a bin's input may be rounded: before fees and with them. */
const ROUNDED_PER_BIN = 2n;

/** Near enough to any rule to say where a probe lands. */
export const LIKELY: FeeFormula = { combine: 'sum', on: 'net', notional: 'byBin' };

/** Neighbouring bins of one additional fee, as far as they hold anything: a pool's fees act on them as one factor. */
export interface Run {
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
   * Swaps to simulate, raw units, exact outputs negative. One to the end of each run shows its factor: an exact output, but
   * for the last run an exact input that empties the side, which shows what the pool keeps of the output too. As proofs, an
   * exact output that ends inside each run, those to the edges inside runs of small amounts, and an exact input that ends
   * inside the first of the bins that hold most.
   */
  readonly probes: readonly bigint[];
  /** False when whole raw units are too coarse for the side, or it has too many runs or edges to prove. */
  readonly isFittable: boolean;
}

/**
 * Plans the fit of a side whose ladder is known and whose fees are not.
 *
 * @param draw a natural number, drawn at random: it decides where in a run its factor is proved, and where in its bin the exact input ends
 * @param isTrial whether the probes are to show as well which formulas agree: a side of few runs has more of them then
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

/**
 * Whether fees that grow with the price would bend the curve over a run by enough. At an edge the bend is what the inputs
 * before it would owe by their own prices less what they owe by the mean of the run: with even inputs, an eighth of
 * input times price move. Where it is large at one edge, it is large at most places.
 */
function isFine(side: SideCurve, { steps }: Run): boolean {
  const [multiplierIn] = multipliers(side);
  const [first] = steps;
  if (!first) return true;
  const start = priceAtFloor(first.slice.edges, first.slice.position);
  const parts = steps.map(({ slice }) => {
    const { input, position } = fillWhole(slice);
    const far = priceAtFloor(slice.edges, position);
    // From the start of the run to the middle of the bin, twice.
    const moved = priceAtFloor(slice.edges, slice.position) + far - 2n * start;
    return { input, owed: input * (moved < 0n ? -moved : moved), far };
  });
  const whole = parts.reduce((sum, { input }) => sum + input, 0n);
  const owed = parts.reduce((sum, part) => sum + part.owed, 0n);
  const price = parts.reduce((most, { far }) => maxBigint(most, far), start);
  let [inputBefore, owedBefore] = [0n, 0n];
  return parts.some((part) => {
    inputBefore += part.input;
    owedBefore += part.owed;
    const bend = inputBefore * owed - owedBefore * whole;
    return 4n * (bend < 0n ? -bend : bend) >= FINE * whole * price * multiplierIn;
  });
}

/** Outputs to the edges between the bins of a run, raw units. */
function edgesInside(side: SideCurve, { steps, outputRaw }: Run): readonly bigint[] {
  const [, multiplierOut] = multipliers(side);
  const edges = steps.map(({ outputBefore, slice }) => (outputBefore + slice.available) / multiplierOut);
  return [...new Set(edges)].filter((edge) => edge > 0n && edge < outputRaw);
}

/** An output that ends inside a run, raw units: any part of what the run gives is as likely as another. */
function outputInside(side: SideCurve, { steps }: Run, draw: bigint): bigint {
  const [, multiplierOut] = multipliers(side);
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return 1n;
  const whole = last.outputBefore + last.slice.available - first.outputBefore;
  const part = (whole * (1n + (draw % PARTS))) / (PARTS + 1n);
  return maxBigint((first.outputBefore + part) / multiplierOut, 1n);
}

/** An input that ends inside the nearest bin that holds at least half of what any does, raw units: about as cheap as can be. */
function inputInFullBin(side: SideCurve, draw: bigint): bigint {
  const [multiplierIn] = multipliers(side);
  const most = side.steps.reduce((max, { slice }) => maxBigint(max, slice.available), 0n);
  const step = side.steps.find(({ slice }) => 2n * slice.available >= most);
  if (!step) return 1n;
  const part = (fillWhole(step.slice).input * (1n + (draw % PARTS))) / (PARTS + 1n);
  return maxBigint((step.inputBefore + part) / multiplierIn, 1n);
}
