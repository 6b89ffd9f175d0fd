import { priceAtFloor } from '../../bin-price.ts';
import type { SideLimit } from '../../curve.ts';
import { divCeil, E6, MAX_INT128, maxBigint, Q64, Q128 } from '../../fixed-point.ts';
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
import { fillExactInput, fillExactOutput } from './bin-fill.ts';
import { tolerance } from './fit-proof.ts';
import { multipliers, type SideCurve, type SideStep } from './side-curve.ts';

/** How far beyond the limit a refusal is looked for, in millionths of the bin's input, and one unit more. */
const BEYOND_E6 = 2n;
/** How finely the end is told: this part of the bin's output. */
const PRECISION_BITS = 40n;

/** A bin that a swap comes to, and its test. */
interface WalkedBin {
  readonly side: SideCurve;
  readonly step: SideStep;
  readonly level: number;
  readonly before: BinBalances;
  readonly markX64: bigint;
  readonly test: BinTest;
}

/**
 * How far a stop loss surely lets a side trade; null when it lets all of it. How much of its fee stays with a bin is not
 * known. So a bin is valued with the input before fees alone, which stays whatever the fees are: every amount up to the
 * limit fills, and some more may. `beyond` is refused even with all of the fee.
 */
export function stopLossLimit(side: SideCurve, mark: StopLossMark, state: StopLossState): SideLimit | null {
  if (state.drawdownE6 === 0) return null;
  const { priced, zeroForOne } = side;
  const marks = markPrices(mark, priced.quote);
  const balancesOf = (bin: number): BinBalances => {
    const { token0Scaled, token1Scaled } = binAt(priced.state, bin);
    return { token0: token0Scaled, token1: token1Scaled };
  };
  const markX64 = zeroForOne ? marks.in0 : marks.in1;
  const testOf = binTests(state, { zeroForOne, marks, balancesOf });
  for (const [level, step] of side.steps.entries()) {
    const test = testOf(step.slice.bin);
    if (!test) continue;
    const limit = limitInBin({ side, step, level, before: balancesOf(step.slice.bin), markX64, test });
    if (limit) return limit;
  }
  return null;
}

function limitInBin(bin: WalkedBin): SideLimit | null {
  const { side, step, level, before, test } = bin;
  const [multiplierIn] = multipliers(side);
  if (!test.accepts(before, 0n)) {
    // A swap that empties a bin touches the next one, even when nothing remains.
    const untouched = surely(side, divCeil(step.inputBefore, multiplierIn) - 1n);
    return limitAt(bin, level === 0 ? 0n : untouched);
  }
  const safe = largestSafeOutput(bin);
  if (safe === step.slice.available) return null;
  return limitAt(bin, surely(side, leastInputAt(side, step, safe) / multiplierIn));
}

const limitAt = (bin: WalkedBin, most: bigint): SideLimit => ({
  most,
  level: bin.level,
  beyond: refusedBeyond(bin, most),
});

const inputAt = ({ slice, inputBefore }: SideStep, output: bigint): bigint =>
  inputBefore + fillExactOutput(slice, output).input;

/** What an output takes at least: of a bin's fees only the mean may be known. */
const leastInputAt = ({ fees }: SideCurve, step: SideStep, output: bigint): bigint =>
  fees.isMean ? step.inputBefore + fillExactOutput(step.slice, output).net : inputAt(step, output);

/** An input, raw units, of which the pool surely gives no more than the curve says. A curve of measured fees may err. */
function surely({ fees }: SideCurve, input: bigint): bigint {
  const mayErr = fees.isMean || fees.marginE15 > 0n;
  return maxBigint(mayErr ? input - tolerance(input) : input, 0n);
}

/** The largest output found such that it and every smaller one is accepted. */
function largestSafeOutput(bin: WalkedBin): bigint {
  const { slice } = bin.step;
  const slack = overchargeCeil(bin);
  const accepts = (output: bigint) =>
    bin.test.accepts(balancesAfter(bin, output, fillExactOutput(slice, output).net), slack);
  const lowest = lowestValueAt(bin);
  if (slice.available === 0n || accepts(lowest)) return slice.available;
  return bisect(0n, lowest, slice.available >> PRECISION_BITS, accepts);
}

function balancesAfter({ side, before }: WalkedBin, output: bigint, added: bigint): BinBalances {
  return side.zeroForOne
    ? { token0: before.token0 + added, token1: before.token1 - output }
    : { token0: before.token0 - output, token1: before.token1 + added };
}

/** The output (0..available) after which the bin, without fees, is worth least: where its price crosses the mark. */
function lowestValueAt({ side, step: { slice }, markX64 }: WalkedBin): bigint {
  const start = priceAtFloor(slice.edges, slice.position);
  const far = side.zeroForOne ? slice.edges.lowerX64 : slice.edges.upperX64;
  const [done, whole] = side.zeroForOne ? [start - markX64, start - far] : [markX64 - start, far - start];
  if (done <= 0n) return 0n;
  return done >= whole ? slice.available : (slice.available * done) / whole;
}

/** How much more than the smooth curve's cost the roundings of prices and amounts can charge, scaled. */
function overchargeCeil({ side, step: { slice } }: WalkedBin): bigint {
  const lower = maxBigint(slice.edges.lowerX64, 1n);
  const priceErrorX64 = side.zeroForOne ? divCeil(divCeil(Q128, lower), lower) + 2n : 2n;
  return divCeil(slice.available * priceErrorX64, Q64) + 10n;
}

/** An amount not far beyond the limit that every release refuses, whatever stays of the fee; null when none is certain. */
function refusedBeyond(bin: WalkedBin, most: bigint): bigint | null {
  const { side, step } = bin;
  const [multiplierIn] = multipliers(side);
  const isRefused = (input: bigint) => {
    const scaled = input * multiplierIn;
    if (scaled > MAX_INT128 || scaled <= step.inputBefore) return false;
    const { output, input: paid } = fillExactInput(step.slice, scaled - step.inputBefore);
    return bin.test.refuses(balancesAfter(bin, output, paid + 2n * tolerance(input) * multiplierIn));
  };
  const end = divCeil(inputAt(step, step.slice.available), multiplierIn);
  const next = most + 1n + divCeil((end - step.inputBefore / multiplierIn) * BEYOND_E6, E6);
  if (isRefused(next)) return next;
  const lowest = divCeil(inputAt(step, lowestValueAt(bin)), multiplierIn);
  return lowest > next && isRefused(lowest) ? lowest : null;
}
