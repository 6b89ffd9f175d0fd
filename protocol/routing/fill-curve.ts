import { tradingBins, type WalkLevel } from '../fill-walk.ts';
import { divCeil, mulDivCeil, mulDivFloor } from '../fixed-point.ts';

export type TradeType = 'exact_in' | 'exact_out';

/**
 * One side of a pool, read from the amount that the trader fixes (`given`) to the amount that follows (`found`): input to
 * output for `exact_in`, output to input for `exact_out`. Amounts are raw units, summed from the cursor outward over the
 * bins that trade, both strictly increasing, so that a fill is a binary search and gives exactly what the walk gives.
 */
export interface FillCurve {
  readonly tradeType: TradeType;
  readonly given: readonly bigint[];
  readonly found: readonly bigint[];
  /** Index of each bin's level in the side's depth. */
  readonly levels: readonly number[];
}

export function fillCurve(levels: readonly WalkLevel[], tradeType: TradeType): FillCurve {
  const inputs: bigint[] = [];
  const outputs: bigint[] = [];
  const indexes: number[] = [];
  let input = 0n;
  let output = 0n;
  for (const bin of tradingBins(levels)) {
    input += bin.input;
    output += bin.output;
    inputs.push(input);
    outputs.push(output);
    indexes.push(bin.index);
  }
  const [given, found] = tradeType === 'exact_in' ? [inputs, outputs] : [outputs, inputs];
  return { tradeType, given, found, levels: indexes };
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

/** Index of the depth level that a given amount (1..capacity) ends in; one that ends at an edge ends in the bin before it. */
export function levelAt(curve: FillCurve, given: bigint): number {
  const level = curve.levels[binOf(curve, given)];
  if (level === undefined) throw beyondDepth();
  return level;
}

function binOf(curve: FillCurve, given: bigint): number {
  return firstIndex(curve.given, (sum) => sum >= given);
}

/** Index of the first sum that the test holds for, the length if it holds for no sum; the test must stay true once it is. */
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
