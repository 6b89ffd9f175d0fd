import { type BinEdges, priceAtCeil, priceAtFloor } from '../../bin-price.ts';
import { divCeil, isqrtFloor, mulDivFloor, Q64, Q128, shiftRightCeil } from '../../fixed-point.ts';
import { MAX_POSITION } from '../../pool-state.ts';

/** What a swap meets in one bin. Amounts are scaled units, prices and fees Q64.64. */
export interface BinSlice {
  /** True sells token0 and moves the price down; false buys token0 and moves it up. */
  readonly zeroForOne: boolean;
  readonly edges: BinEdges;
  /** Where in the bin the swap starts, 0..MAX_POSITION. */
  readonly position: bigint;
  /** The bin's whole balance of the output token. */
  readonly available: bigint;
  readonly feeX64: bigint;
}

/** What a swap took from a bin and paid for it, scaled units. */
export interface BinFill {
  readonly output: bigint;
  /** Input before the bin's fee. */
  readonly net: bigint;
  /** The bin's fee, in the input token. */
  readonly fee: bigint;
  /** Where in the bin the swap stopped. */
  readonly position: bigint;
}

export function inputOf(fill: BinFill): bigint {
  return fill.net + fill.fee;
}

/**
 * Input per output at a position, rounded against the trader, Q64.64: the price for buyers, its inverse for sellers.
 * A RangeError (division by zero) means that the price there is zero and nothing can be sold.
 */
export function paidPriceCeil({ zeroForOne, edges }: Pick<BinSlice, 'zeroForOne' | 'edges'>, position: bigint): bigint {
  return zeroForOne ? divCeil(Q128, priceAtFloor(edges, position)) : priceAtCeil(edges, position);
}

/** Cost of an output between two paid prices: average price rounded up, then the fee on top, rounded up. */
export function costBetweenCeil(
  output: bigint,
  startPaidX64: bigint,
  endPaidX64: bigint,
  feeX64: bigint,
): Pick<BinFill, 'net' | 'fee'> {
  const averageX64 = (startPaidX64 + endPaidX64 + 1n) >> 1n;
  const net = shiftRightCeil(output * averageX64, 64n);
  return { net, fee: shiftRightCeil(net * feeX64, 64n) };
}

/** Where a swap stops that takes this output: always short of or at the true place, in the pool's favour. */
function positionAfter({ zeroForOne, position, available }: BinSlice, output: bigint): bigint {
  if (output >= available) return zeroForOne ? 0n : MAX_POSITION;
  return zeroForOne
    ? divCeil(position * (available - output), available)
    : position + mulDivFloor(MAX_POSITION - position, output, available);
}

/** Takes exactly this output (0..available) from a bin. */
export function fillExactOutput(slice: BinSlice, output: bigint): BinFill {
  const position = positionAfter(slice, output);
  const start = paidPriceCeil(slice, slice.position);
  const end = paidPriceCeil(slice, position);
  return { output, position, ...costBetweenCeil(output, start, end, slice.feeX64) };
}

/** Takes all that a bin has. */
export function fillWhole(slice: BinSlice): BinFill {
  return fillExactOutput(slice, slice.available);
}

/**
 * Takes the most that an input (scaled, fee included) pays for. A whole bin costs what its exact output costs; short of
 * that all of the input is used up, and what it pays beyond the cost of the output stays with the pool.
 */
export function fillExactInput(slice: BinSlice, input: bigint): BinFill {
  const whole = fillWhole(slice);
  if (inputOf(whole) <= input) return whole;
  const output = largestAffordable(slice, input);
  const { position, net } = fillExactOutput(slice, output);
  return { output, position, net, fee: input - net };
}

/** The largest output whose cost does not exceed the input: the closed form, corrected by a search around it. */
function largestAffordable(slice: BinSlice, input: bigint): bigint {
  const affordable = (output: bigint) => inputOf(fillExactOutput(slice, output)) <= input;
  // Nothing is always affordable, the whole bin is not: both ends hold before the first probe.
  let low = 0n;
  let high = slice.available;
  let probe = closedFormOutput(slice, input);
  for (let step = 1n; high - low > 1n; step *= 4n) {
    probe = clampInside(probe, low, high);
    if (affordable(probe)) {
      low = probe;
      probe += step;
    } else {
      high = probe;
      probe -= step;
    }
  }
  return low;
}

/** Keeps a probe inside (low, high); one that left it is replaced by the middle. */
function clampInside(probe: bigint, low: bigint, high: bigint): bigint {
  return probe > low && probe < high ? probe : (low + high) >> 1n;
}

/**
 * Output of an input that ends inside the bin. With N the input before fees and s = sqrt(...) below, the price is linear
 * in the position, so buying solves k/2 x^2 + p x = N and selling k x^2 - 2p(1 + N k) x + 2 N p^2 = 0, k being the slope
 * of the price over the output. Both are written as 2N over a sum, which loses no digits when k is small.
 */
function closedFormOutput(slice: BinSlice, input: bigint): bigint {
  const net = mulDivFloor(input, Q64, Q64 + slice.feeX64);
  const start = slice.zeroForOne ? priceAtFloor(slice.edges, slice.position) : priceAtCeil(slice.edges, slice.position);
  if (slice.zeroForOne) {
    const slope = mulDivFloor(start - slice.edges.lowerX64, net, slice.available);
    const root = isqrtFloor(Q128 + slope * slope);
    return (2n * net * start) / (Q64 + slope + root);
  }
  const slope = mulDivFloor((slice.edges.upperX64 - start) * 2n * net, Q64, slice.available);
  const root = isqrtFloor(start * start + slope);
  return (2n * net * Q64) / (start + root);
}
