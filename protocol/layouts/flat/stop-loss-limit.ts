import { priceAtFloor } from '../../bin-price.ts';
import type { SideLimit } from '../../curve.ts';
import { divCeil, E6, MAX_INT128, maxBigint, mulDivFloor, Q64, Q128 } from '../../fixed-point.ts';
import { bisect } from '../../guards/bisect.ts';
import {
  type BinBalances,
  type BinTest,
  binTests,
  markPrices,
  type StopLossMark,
  type StopLossState,
} from '../../guards/stop-loss.ts';
import { binAt } from '../../pool-state.ts';
import { type BinFill, fillExactInput, fillExactOutput, inputOf } from './bin-fill.ts';
import type { ProviderQuote } from './provider-quote.ts';
import type { SideCurve, SideStep } from './side-curve.ts';

/** How far beyond the limit a refusal is looked for, in millionths of the bin's input, and one unit more. */
const BEYOND_E6 = 2n;
/** How finely the end is told: this part of the bin's output. */
const PRECISION_BITS = 40n;

/**
 * How far a stop loss lets a side trade; null when it lets all of it. A swap is judged by every bin that it touches, as it
 * leaves them. Within a bin the value falls while the pool sells below the mark, and rises after: it has its extremes at
 * the start, at the end and where the bin's price, LP fee included, crosses the mark.
 */
export function stopLossLimit(
  side: SideCurve,
  quote: ProviderQuote,
  mark: StopLossMark,
  state: StopLossState,
): SideLimit | null {
  if (state.drawdownE6 === 0) return null;
  const marks = markPrices(mark, quote);
  const { priced, zeroForOne } = side;
  const balancesOf = (bin: number): BinBalances => {
    const { token0Scaled, token1Scaled } = binAt(priced.state, bin);
    return { token0: token0Scaled, token1: token1Scaled };
  };
  const testOf = binTests(state, { zeroForOne, marks, balancesOf });
  for (const [level, step] of side.steps.entries()) {
    const test = testOf(step.slice.bin);
    if (!test) continue;
    const bin: WalkedBin = {
      step,
      spreadFeeE6: priced.state.spreadFeeE6,
      before: balancesOf(step.slice.bin),
      markX64: zeroForOne ? marks.in0 : marks.in1,
      test,
    };
    const limit = limitInBin(bin, inputMultiplier(side), level);
    if (limit) return limit;
  }
  return null;
}

/** A bin that a swap comes to, and its test. */
interface WalkedBin {
  readonly step: SideStep;
  readonly spreadFeeE6: number;
  readonly before: BinBalances;
  readonly markX64: bigint;
  readonly test: BinTest;
}

function limitInBin(bin: WalkedBin, multiplier: bigint, level: number): SideLimit | null {
  const { slice, inputBefore } = bin.step;
  if (!bin.test.accepts(bin.before, 0n)) {
    // A swap that empties a bin touches the next one, even when nothing remains.
    const most = level === 0 ? 0n : maxBigint(divCeil(inputBefore, multiplier) - 1n, 0n);
    return { most, level, beyond: refusedBeyond(bin, multiplier, most) };
  }
  const safe = largestSafeOutput(bin);
  if (safe === slice.available) return null;
  const most = (inputBefore + inputOf(fillExactOutput(slice, safe))) / multiplier;
  return { most, level, beyond: refusedBeyond(bin, multiplier, most) };
}

/** The largest output found such that it and every smaller one is accepted. */
function largestSafeOutput(bin: WalkedBin): bigint {
  const { slice } = bin.step;
  const slack = overchargeCeil(bin);
  const accepts = (output: bigint) => bin.test.accepts(balancesAfter(bin, fillExactOutput(slice, output)), slack);
  const lowest = lowestValueAt(bin);
  if (slice.available === 0n || accepts(lowest)) return slice.available;
  return bisect(0n, lowest, slice.available >> PRECISION_BITS, accepts);
}

/** Balances of the bin after a fill: LPs keep what the trader pays but for the protocol's part of the fee. */
function balancesAfter({ step: { slice }, before, spreadFeeE6 }: WalkedBin, fill: BinFill): BinBalances {
  const added = inputOf(fill) - mulDivFloor(fill.fee, BigInt(spreadFeeE6), E6);
  return slice.zeroForOne
    ? { token0: before.token0 + added, token1: before.token1 - fill.output }
    : { token0: before.token0 - fill.output, token1: before.token1 + added };
}

/** The output (0..available) after which the bin is worth least: where its price with the LPs' fee crosses the mark. */
function lowestValueAt({ step: { slice }, spreadFeeE6, markX64 }: WalkedBin): bigint {
  const lpFeeX64 = (slice.feeX64 * (E6 - BigInt(spreadFeeE6))) / E6;
  const start = priceAtFloor(slice.edges, slice.position);
  const far = slice.zeroForOne ? slice.edges.lowerX64 : slice.edges.upperX64;
  const crossing = slice.zeroForOne ? (markX64 * (Q64 + lpFeeX64)) / Q64 : (markX64 * Q64) / (Q64 + lpFeeX64);
  const [done, whole] = slice.zeroForOne ? [start - crossing, start - far] : [crossing - start, far - start];
  if (done <= 0n) return 0n;
  return done >= whole ? slice.available : (slice.available * done) / whole;
}

/**
 * How much more than the curve's own cost the roundings of prices and amounts can charge, scaled: by so much the value of
 * the bin may fall short of a smooth curve between two of its points.
 */
function overchargeCeil({ step: { slice } }: WalkedBin): bigint {
  const { zeroForOne, edges, available, feeX64 } = slice;
  const inverse = divCeil(Q128, maxBigint(edges.lowerX64, 1n));
  const priceErrorX64 = zeroForOne ? divCeil(inverse, maxBigint(edges.lowerX64, 1n)) + 2n : 2n;
  const net = divCeil(available * priceErrorX64, Q64) + 2n;
  return net + divCeil(net * feeX64, Q64) + 8n;
}

/** An amount not far beyond the limit that every release refuses; null when that is not certain of any. */
function refusedBeyond(bin: WalkedBin, multiplier: bigint, most: bigint): bigint | null {
  const { slice, inputBefore } = bin.step;
  const inputAt = (output: bigint) => divCeil(inputBefore + inputOf(fillExactOutput(slice, output)), multiplier);
  const isRefused = (input: bigint) => {
    const scaled = input * multiplier;
    const fill = fillExactInput(slice, maxBigint(scaled - inputBefore, 0n));
    return scaled <= MAX_INT128 && bin.test.refuses(balancesAfter(bin, fill));
  };
  const next = most + 1n + divCeil((inputAt(slice.available) - inputBefore / multiplier) * BEYOND_E6, E6);
  if (isRefused(next)) return next;
  // The threshold is passed at a shallow angle: the lowest point tells, if anything does.
  const lowest = inputAt(lowestValueAt(bin));
  return lowest > next && isRefused(lowest) ? lowest : null;
}

const inputMultiplier = ({ priced, zeroForOne }: SideCurve): bigint =>
  zeroForOne ? priced.state.scale.multiplier0 : priced.state.scale.multiplier1;
