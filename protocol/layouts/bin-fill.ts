import { type BinEdges, priceAtCeil, priceAtFloor } from '../bin-price.ts';
import { bisect } from '../bisect.ts';
import { divCeil, maxBigint, minBigint, mulDivFloor, Q64, Q128, shiftRightCeil } from '../fixed-point.ts';
import { MAX_POSITION } from '../pool-state.ts';

/** Units by which a pool that solves for an output may stop short. */
const FEW = 4n;

/**
 * How the fees of a bin act, as one factor (Q64.64, 2^64 = free): on the input before fees, on both edges before prices
 * are interpolated between them, or on each interpolated price.
 */
export interface Charge {
  readonly on: 'net' | 'edges' | 'price';
  readonly factorX64: bigint;
}

/** What a swap meets in one bin. Amounts are scaled units, prices Q64.64. */
export interface BinSlice {
  readonly bin: number;
  /** True sells token0 and moves the price down; false buys token0 and moves it up. */
  readonly zeroForOne: boolean;
  readonly edges: BinEdges;
  /** The edges with fees where fees act on edges, else the bare edges. */
  readonly chargedEdges: BinEdges;
  /** Where in the bin the swap starts, 0..MAX_POSITION. */
  readonly position: bigint;
  /** The bin's whole balance of the output token. */
  readonly available: bigint;
  readonly charge: Charge;
}

/** What a swap took from a bin and paid for it, scaled units. */
export interface BinFill {
  readonly output: bigint;
  /** Input before fees. */
  readonly net: bigint;
  /** Input with the bin's fees. */
  readonly input: bigint;
  /** Where in the bin the swap stopped. */
  readonly position: bigint;
}

/** Adds fees to the edges, where fees act on edges. */
export function chargedEdges(edges: BinEdges, charge: Charge, zeroForOne: boolean): BinEdges {
  if (charge.on !== 'edges') return edges;
  return {
    lowerX64: withFee(edges.lowerX64, charge, zeroForOne),
    upperX64: withFee(edges.upperX64, charge, zeroForOne),
  };
}

/** Takes exactly this output (0..available) from a bin. */
export function fillExactOutput(slice: BinSlice, output: bigint): BinFill {
  const position = positionAfter(slice, output);
  const net = averageCost(output, barePaid(slice, slice.position), barePaid(slice, position));
  if (slice.charge.on === 'net') return { output, position, net, input: inputOfNet(slice, net) };
  const input = averageCost(output, chargedPaid(slice, slice.position), chargedPaid(slice, position));
  return { output, position, net, input };
}

/** Takes all that a bin has. */
export function fillWhole(slice: BinSlice): BinFill {
  return fillExactOutput(slice, slice.available);
}

/**
 * Takes the largest output that an input (scaled, fees included) pays for. For a whole bin, the input is the exact cost
 * of its output. Short of that the whole input is used: the pool keeps what exceeds the cost of the output.
 */
export function fillExactInput(slice: BinSlice, input: bigint): BinFill {
  const output = largestAffordable(slice, input);
  return output === slice.available ? fillWhole(slice) : { ...fillExactOutput(slice, output), input };
}

/**
 * The least that {@link fillExactInput} gives where the pool solves for the output and corrects it. Such a pool may
 * stop short by a few units of input and output, and by what the last digits of its prices cost.
 */
export function fillAtLeast(slice: BinSlice, input: bigint): BinFill {
  const whole = fillWhole(slice);
  if (whole.input <= input) return whole;
  const { lowerX64 } = slice.edges;
  const short = FEW + divCeil(FEW * input, minBigint(lowerX64, divCeil(Q128, lowerX64)));
  const output = largestAffordable(slice, maxBigint(input - short, 0n)) - FEW;
  return { ...fillExactOutput(slice, maxBigint(output, 0n)), input };
}

/** Price with the bin's fees at a position, as a pool reports it: rounded up for a buy, down for a sale. */
export function chargedPrice(slice: BinSlice, position: bigint): bigint {
  const { zeroForOne, edges, charge } = slice;
  if (charge.on === 'edges') return priceAt(slice.chargedEdges, position, zeroForOne);
  // Where fees act on the input, pools round the bare price down for either direction, as in the flat layout.
  const bare = charge.on === 'net' ? priceAtFloor(edges, position) : priceAt(edges, position, zeroForOne);
  return withFee(bare, charge, zeroForOne);
}

/** Adds fees that act on the input. */
const inputOfNet = ({ charge: { factorX64 } }: BinSlice, net: bigint): bigint =>
  net + shiftRightCeil(net * (factorX64 - Q64), 64n);

/** Input per output at a position, without fees. */
const barePaid = ({ edges, zeroForOne }: BinSlice, position: bigint): bigint =>
  paidCeil(priceAt(edges, position, zeroForOne), zeroForOne);

/** Input per output at a position, with fees that act on edges or prices. */
const chargedPaid = (slice: BinSlice, position: bigint): bigint =>
  paidCeil(chargedPrice(slice, position), slice.zeroForOne);

/** A price with the fees that act on it, rounded against the trader. */
export function withFee(priceX64: bigint, { factorX64 }: Charge, zeroForOne: boolean): bigint {
  return zeroForOne ? (priceX64 * Q64) / factorX64 : shiftRightCeil(priceX64 * factorX64, 64n);
}

/** Cost of an output between two prices, each as input per output. */
function averageCost(output: bigint, startPaidX64: bigint, endPaidX64: bigint): bigint {
  return shiftRightCeil(output * ((startPaidX64 + endPaidX64 + 1n) >> 1n), 64n);
}

/** Price between two edges at a position, rounded against the trader. */
export function priceAt(edges: BinEdges, position: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? priceAtFloor(edges, position) : priceAtCeil(edges, position);
}

/**
 * Input per output at a price: the price for buyers, its inverse for sellers.
 * A RangeError (division by zero) means that the price is zero and nothing can be sold.
 */
function paidCeil(priceX64: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? divCeil(Q128, priceX64) : priceX64;
}

/** Position at which a swap of this output stops, rounded in the pool's favour: never beyond the true position. */
function positionAfter({ zeroForOne, position, available }: BinSlice, output: bigint): bigint {
  if (output >= available) return zeroForOne ? 0n : MAX_POSITION;
  return zeroForOne
    ? divCeil(position * (available - output), available)
    : position + mulDivFloor(MAX_POSITION - position, output, available);
}

/** What a bin costs at both ends, input per output (Q64.64), and all of it. */
interface BinCost {
  readonly startPaidX64: bigint;
  readonly endPaidX64: bigint;
  readonly whole: bigint;
}

/** Of bins in which many inputs end. */
const binCosts = new WeakMap<BinSlice, BinCost>();

function binCost(slice: BinSlice): BinCost {
  const known = binCosts.get(slice);
  if (known) return known;
  const paidAt = slice.charge.on === 'net' ? barePaid : chargedPaid;
  const startPaidX64 = paidAt(slice, slice.position);
  const endPaidX64 = paidAt(slice, positionAfter(slice, slice.available));
  const cost = { startPaidX64, endPaidX64, whole: costBetween(slice, slice.available, startPaidX64, endPaidX64) };
  binCosts.set(slice, cost);
  return cost;
}

/** Cost of an output between two prices, with the fees that act on it. */
function costBetween(slice: BinSlice, output: bigint, startPaidX64: bigint, endPaidX64: bigint): bigint {
  const paid = averageCost(output, startPaidX64, endPaidX64);
  return slice.charge.on === 'net' ? inputOfNet(slice, paid) : paid;
}

/**
 * About the output that an input pays for, by floats: prices fall or rise evenly within a bin, and a sale pays their
 * inverse. Output and input meet where `input = output * (start + end) / 2`.
 */
function roughOutput(slice: BinSlice, input: bigint, { startPaidX64, endPaidX64 }: BinCost): bigint {
  const { zeroForOne, available, charge } = slice;
  const [start, end] = [Number(startPaidX64) / Number(Q64), Number(endPaidX64) / Number(Q64)];
  const net = charge.on === 'net' ? (Number(input) * Number(Q64)) / Number(charge.factorX64) : Number(input);
  const fall = (1 / start - 1 / end) / Number(available);
  const rise = (end - start) / Number(available);
  const middle = (1 + net * fall) / start;
  const output = zeroForOne
    ? (2 * net) / start ** 2 / (middle + Math.sqrt(middle ** 2 - (2 * net * fall) / start ** 2))
    : (2 * net) / (start + Math.sqrt(start ** 2 + 2 * net * rise));
  return output >= 0 && output < Number(available) ? minBigint(BigInt(Math.floor(output)), available) : available >> 1n;
}

/** Two guesses this close, as a power of 2, show the slope there. */
const NEAR_BITS = 20n;
/** After this many secants, a guess is as near as rounding lets it be: prices in a bin are nearly even. */
const SECANTS = 2;

/**
 * The largest output of a bin whose cost does not exceed the input (scaled, fees included). Costs never fall, so any
 * guess may begin the search; to bisect the whole bin would take several times as long.
 */
export function largestAffordable(slice: BinSlice, input: bigint): bigint {
  const { available } = slice;
  const bin = binCost(slice);
  if (bin.whole <= input) return available;
  const paidAt = slice.charge.on === 'net' ? barePaid : chargedPaid;
  const costOf = (output: bigint) =>
    costBetween(slice, output, bin.startPaidX64, paidAt(slice, positionAfter(slice, output)));
  let guess = roughOutput(slice, input, bin);
  let last = guess - (guess >> NEAR_BITS);
  let [lastCost, cost] = [costOf(last), costOf(guess)];
  for (let secant = 0; secant < SECANTS && cost !== lastCost; secant++) {
    const secantAt = guess + ((input - cost) * (guess - last)) / (cost - lastCost);
    const next = minBigint(maxBigint(secantAt, 0n), available);
    if (next === guess) break;
    [last, lastCost, guess, cost] = [guess, cost, next, costOf(next)];
  }
  const isPaid = (output: bigint) => costOf(output) <= input;
  let [low, high] = cost <= input ? [guess, guess + 1n] : [guess - 1n, guess];
  for (let step = 1n; high < available && high > guess && isPaid(high); step *= 2n) [low, high] = [high, high + step];
  for (let step = 1n; low > 0n && low < guess && !isPaid(low); step *= 2n) [low, high] = [low - step, low];
  return bisect(maxBigint(low, 0n), minBigint(high, available), 1n, isPaid);
}
