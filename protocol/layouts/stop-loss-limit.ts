import { priceAtFloor } from '../bin-price.ts';
import { bisect } from '../bisect.ts';
import type { SideLimit } from '../curve.ts';
import { divCeil, E6, MAX_INT128, maxBigint, minBigint, mulDivFloor, Q64, Q128 } from '../fixed-point.ts';
import { binAt } from '../pool-state.ts';
import type { BinBalances, BinTest } from '../stop-loss/rounding.ts';
import { binTests, markPrices, type StopLossMark, type StopLossState } from '../stop-loss/stop-loss.ts';
import { type BinFill, fillExactInput, fillExactOutput } from './bin-fill.ts';
import { multipliers, type SideCurve, type SideStep } from './side-curve.ts';
import { surely, tolerance } from './tolerance.ts';

/** How far beyond the limit a refusal is looked for, in millionths of the bin's input, and one unit more. */
const BEYOND_E6 = 2n;
/** The end is found to within the bin's output divided by two to this power. */
const PRECISION_BITS = 40n;
/** Most steps that are followed of a value that is rounded to coarse units. */
const MAX_STEPS = 300;

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
 * How far a stop loss surely lets a side trade; null when it lets all of it. It judges every bin that a swap touches,
 * as the swap leaves them. Within a bin the value falls while the pool sells below the mark, and rises after. So its
 * extremes are at the start, at the end, and where the bin's price, with the fee that stays, crosses the mark.
 *
 * Where it is not known how much of its fee stays with a bin, only the input before fees counts: every amount up to the
 * limit fills, and larger ones may. `beyond` is refused even if all of the fee stays.
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
  const { rounding } = isExact(side.fees) ? state : {};
  const testOf = binTests({ ...state, rounding }, { zeroForOne, marks, balancesOf });
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
  if (!test.passes(before)) {
    // A swap that empties a bin touches the next one, even when nothing remains.
    const untouched = surely(side, divCeil(step.inputBefore, multiplierIn) - 1n);
    return limitAt(bin, level === 0 ? 0n : untouched);
  }
  const safe = largestSafeOutput(bin);
  if (safe === step.slice.available) return null;
  // One unit of input may buy many units of output: an input that does not pay for the next unit stays within.
  const paid = safe === 0n ? step.inputBefore : leastInputAt(side, step, safe + 1n) - 1n;
  return limitAt(bin, surely(side, paid / multiplierIn));
}

const limitAt = (bin: WalkedBin, most: bigint): SideLimit => ({
  most,
  level: bin.level,
  beyond: rejectedBeyond(bin, most),
});

const inputAt = ({ slice, inputBefore }: SideStep, output: bigint): bigint =>
  inputBefore + fillExactOutput(slice, output).input;

/** Whether a bin's balances after a swap are known unit for unit. */
const isExact = ({ leavesE6, marginE15, isMean }: SideCurve['fees']): boolean =>
  leavesE6 !== null && marginE15 === 0n && !isMean;

/** The least that an output takes: its input before fees where only the mean of a bin's fees is known. */
const leastInputAt = ({ fees }: SideCurve, step: SideStep, output: bigint): bigint =>
  fees.isMean ? step.inputBefore + fillExactOutput(step.slice, output).net : inputAt(step, output);

/** The largest output found such that it and every smaller one is accepted. */
function largestSafeOutput(bin: WalkedBin): bigint {
  const { slice } = bin.step;
  const slack = overchargeCeil(bin);
  const accepts = (output: bigint) => {
    const fill = fillExactOutput(slice, output);
    return bin.test.accepts(balancesAfter(bin, fill.output, surelyKept(bin, fill)), slack);
  };
  const lowest = lowestValueAt(bin);
  // An output is a whole number of units: the lowest value lies at one neighbour of the crossing or the other.
  const rejected = [lowest, minBigint(lowest + 1n, slice.available)].find((output) => !accepts(output));
  if (slice.available === 0n || rejected === undefined) return slice.available;
  const safe = bisect(0n, rejected, slice.available >> PRECISION_BITS, accepts);
  return beyondSteps(bin, safe, (output) => output > lowest && accepts(output));
}

/**
 * Extends a safe output where the stop loss counts output in coarse units. The value then falls by one of them at a
 * time and rises in between, so the bin passes up to the first step that is refused.
 *
 * @param from every output up to this one passes
 * @param isRisen whether every output from this one on passes
 */
function beyondSteps(bin: WalkedBin, from: bigint, isRisen: (output: bigint) => boolean): bigint {
  const { side, step, before, test } = bin;
  const { slice } = step;
  if (!test.leastOutput) return from;
  const held = side.zeroForOne ? before.token1 : before.token0;
  const after = (output: bigint) => balancesAfter(bin, output, surelyKept(bin, fillExactOutput(slice, output)));
  let safe = from;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { token0, token1 } = after(safe);
    const end = held - test.leastOutput(side.zeroForOne ? token0 : token1);
    if (end >= slice.available || isRisen(safe)) return slice.available;
    if (end > safe) safe = end;
    else if (test.passes(after(safe + 1n))) safe += 1n;
    else return safe;
  }
  return safe;
}

/** The part of the input that surely stays with the bin. */
function surelyKept({ side: { fees } }: WalkedBin, { input, net }: BinFill): bigint {
  return fees.leavesE6 === null ? net : input - mulDivFloor(input - net, BigInt(fees.leavesE6), E6);
}

function balancesAfter({ side, before }: WalkedBin, output: bigint, added: bigint): BinBalances {
  return side.zeroForOne
    ? { token0: before.token0 + added, token1: before.token1 - output }
    : { token0: before.token0 - output, token1: before.token1 + added };
}

/** Output (0..available, rounded down) of the bin's lowest value, where its price with the kept fee is at the mark. */
function lowestValueAt(bin: WalkedBin): bigint {
  const { side, step, markX64 } = bin;
  const { slice } = step;
  const keptX64 = Q64 + (knownFeeX64(bin) * (E6 - BigInt(side.fees.leavesE6 ?? 0))) / E6;
  const start = priceAtFloor(slice.edges, slice.position);
  const far = side.zeroForOne ? slice.edges.lowerX64 : slice.edges.upperX64;
  const crossing = side.zeroForOne ? (markX64 * keptX64) / Q64 : (markX64 * Q64) / keptX64;
  const [done, whole] = side.zeroForOne ? [start - crossing, start - far] : [crossing - start, far - start];
  if (done <= 0n) return 0n;
  return done >= whole ? slice.available : (slice.available * done) / whole;
}

/** The bin's fee where it is known how much of it stays, else zero. */
const knownFeeX64 = ({ side, step }: WalkedBin): bigint =>
  side.fees.leavesE6 === null ? 0n : step.slice.charge.factorX64 - Q64;

/**
 * How much the roundings of prices and amounts can add to the curve's own cost, scaled. Between two of its points the
 * value of the bin may fall short of a smooth curve by this much.
 */
function overchargeCeil(bin: WalkedBin): bigint {
  const { edges, available } = bin.step.slice;
  const lower = maxBigint(edges.lowerX64, 1n);
  const priceErrorX64 = bin.side.zeroForOne ? divCeil(divCeil(Q128, lower), lower) + 2n : 2n;
  const net = divCeil(available * priceErrorX64, Q64) + 2n;
  return net + divCeil(net * knownFeeX64(bin), Q64) + 9n;
}

/** An amount not far beyond the limit that every release refuses; null when no such amount is certain. */
function rejectedBeyond(bin: WalkedBin, most: bigint): bigint | null {
  const { side, step } = bin;
  const [multiplierIn] = multipliers(side);
  const isKnown = side.fees.leavesE6 !== null;
  const isRejected = (input: bigint) => {
    const rest = input * multiplierIn - step.inputBefore;
    if (input * multiplierIn > MAX_INT128 || rest < 0n || (rest === 0n && !isKnown)) return false;
    const fill = fillExactInput(step.slice, rest);
    const kept = isKnown ? surelyKept(bin, fill) : fill.input + 2n * tolerance(input) * multiplierIn;
    return bin.test.refuses(balancesAfter(bin, fill.output, kept));
  };
  const end = divCeil(inputAt(step, step.slice.available), multiplierIn);
  const next = most + 1n + divCeil((end - step.inputBefore / multiplierIn) * BEYOND_E6, E6);
  // The value may pass the threshold at a shallow angle: then the lowest point shows a refusal, if any does.
  const lowest = divCeil(inputAt(step, lowestValueAt(bin)), multiplierIn);
  return [next, ...(lowest > next ? [lowest] : []), most + 1n].find(isRejected) ?? null;
}
