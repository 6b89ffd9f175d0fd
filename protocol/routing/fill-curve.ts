import { type BinAmounts, tradingBins, type WalkLevel } from '../fill-walk.ts';
import { divCeil, mulDivCeil, mulDivFloor } from '../fixed-point.ts';

export type TradeType = 'exact_in' | 'exact_out';

/**
 * One side of a pool, from the amount that the trader fixes (`given`) to the amount that follows (`found`): input to
 * output for `exact_in`, output to input for `exact_out`. Both lists hold raw units, summed from the cursor outward
 * over the bins that trade. Both increase strictly, so a binary search finds exactly the fill that a walk would.
 */
export interface FillCurve {
  readonly tradeType: TradeType;
  readonly given: readonly bigint[];
  readonly found: readonly bigint[];
  /** Index of each bin's level in the side's depth. */
  readonly levels: readonly number[];
  /**
   * The bins as steps of falling price. Bins may charge fees of their own, so a bin can be more expensive than the one
   * behind it; such bins are merged (the concave hull of the sums),
   * or a search by marginal price would stop before them.
   */
  readonly steps: readonly PriceStep[];
}

/** A run of bins that a search treats as one: it ends where the best average price from its start is reached. */
export interface PriceStep {
  /** Given amount at its end, raw units from the cursor. */
  readonly end: bigint;
  /** Output per input, Q128. Never better than the step before. */
  readonly rateX128: bigint;
}

/** The curve of a side from its cursor outward. */
export function fillCurve(levels: readonly WalkLevel[], tradeType: TradeType): FillCurve {
  const bins = tradingBins(levels);
  const [inputs, outputs] = [runningSums(bins, 'input'), runningSums(bins, 'output')];
  const [given, found] = tradeType === 'exact_in' ? [inputs, outputs] : [outputs, inputs];
  return { tradeType, given, found, levels: bins.map(({ index }) => index), steps: priceSteps(bins, given) };
}

function runningSums(bins: readonly BinAmounts[], amount: 'input' | 'output'): readonly bigint[] {
  let sum = 0n;
  return bins.map((bin) => {
    sum += bin[amount];
    return sum;
  });
}

/** The largest amount that the curve can take, raw units; 0 for an empty side. */
export function capacity(curve: FillCurve): bigint {
  return curve.given.at(-1) ?? 0n;
}

/**
 * What follows from a given amount: output rounded down, input rounded up.
 *
 * @param given 0..capacity, or a RangeError
 */
export function foundAt(curve: FillCurve, given: bigint): bigint {
  if (given <= 0n) return 0n;
  const bin = binOf(curve, given);
  const end = at(curve.given, bin);
  const endFound = at(curve.found, bin);
  if (given === end) return endFound;
  const start = before(curve.given, bin);
  const startFound = before(curve.found, bin);
  const mulDiv = curve.tradeType === 'exact_in' ? mulDivFloor : mulDivCeil;
  return startFound + mulDiv(endFound - startFound, given - start, end - start);
}

/** The largest given amount, at most the capacity, that leads to no more than `found`. */
export function givenWithin(curve: FillCurve, found: bigint): bigint {
  const bin = firstIndex(curve.found, (sum) => sum > found);
  if (bin === curve.found.length) return capacity(curve);
  const start = before(curve.given, bin);
  const startFound = before(curve.found, bin);
  const width = at(curve.given, bin) - start;
  const height = at(curve.found, bin) - startFound;
  const room = found - startFound;
  // Rounding down, floor(height * u / width) <= room as long as height * u < width * (room + 1).
  const inside =
    curve.tradeType === 'exact_in' ? divCeil(width * (room + 1n), height) - 1n : mulDivFloor(width, room, height);
  return start + inside;
}

/** Index of the depth level in which a given amount (1..capacity) ends; at an edge, that of the bin before it. */
export function levelAt(curve: FillCurve, given: bigint): number {
  const level = curve.levels[binOf(curve, given)];
  if (level === undefined) throw beyondDepth();
  return level;
}

function binOf(curve: FillCurve, given: bigint): number {
  return firstIndex(curve.given, (sum) => sum >= given);
}

/** Index of the first sum that passes the test, or the length. All sums behind the first that passes must pass too. */
function firstIndex(sums: readonly bigint[], test: (sum: bigint) => boolean): number {
  let low = 0;
  let high = sums.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(at(sums, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}

function at(sums: readonly bigint[], index: number): bigint {
  const sum = sums[index];
  if (sum === undefined) throw beyondDepth();
  return sum;
}

function before(sums: readonly bigint[], index: number): bigint {
  return index === 0 ? 0n : at(sums, index - 1);
}

const beyondDepth = () => new RangeError('amount beyond the depth of the side');

/** Bins as one step: given amount at their end, and their sums. */
interface Run {
  readonly end: bigint;
  readonly input: bigint;
  readonly output: bigint;
}

function priceSteps(bins: readonly BinAmounts[], ends: readonly bigint[]): readonly PriceStep[] {
  const runs: Run[] = [];
  for (const [index, bin] of bins.entries()) {
    let run: Run = { end: at(ends, index), input: bin.input, output: bin.output };
    for (let last = runs.at(-1); last && isCheaper(run, last); last = runs.at(-1)) {
      runs.pop();
      run = { end: run.end, input: run.input + last.input, output: run.output + last.output };
    }
    runs.push(run);
  }
  return runs.map(({ end, input, output }) => ({ end, rateX128: (output << 128n) / input }));
}

const isCheaper = (a: Run, b: Run): boolean => a.output * b.input > b.output * a.input;
