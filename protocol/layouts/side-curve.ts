import { bisect } from '../bisect.ts';
import type { PoolCurve, SwapAmounts } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { divCeil, E6, E8, maxBigint, minBigint, mulDivFloor, Q64 } from '../fixed-point.ts';
import { binAt, MAX_POSITION } from '../pool-state.ts';
import { toRawCeil, toRawFloor, toScaled } from '../scaling.ts';
import {
  type BinFill,
  type BinSlice,
  chargedEdges,
  chargedPrice,
  fillAtLeast,
  fillExactInput,
  fillExactOutput,
  fillWhole,
} from './bin-fill.ts';
import { binEdges, type PricedPool } from './ladder.ts';
import { type SideFees, withEndFee } from './side-fees.ts';

/** How far a curve of measured fees may be from the pool's own: raw units, and one part of the amount. */
export const TOLERANCE = { units: 2n, part: 2_500_000_000_000n } as const;

/** By how much an amount of such a curve may differ, raw units. */
export const tolerance = (amount: bigint): bigint => TOLERANCE.units + amount / TOLERANCE.part;

const E15 = 10n ** 15n;
const NOTHING = { cumulativeInput: 0n, cumulativeOutput: 0n };

/** A bin of a side and what the side takes before it, scaled units. */
export interface SideStep {
  readonly slice: BinSlice;
  readonly outputBefore: bigint;
  readonly netBefore: bigint;
  readonly inputBefore: bigint;
}

/** One direction of a priced pool with its fees, walked once. */
export interface SideCurve {
  readonly priced: PricedPool;
  readonly zeroForOne: boolean;
  readonly fees: SideFees;
  /** Price at the cursor with all fees, Q64.64. */
  readonly bestX64: bigint;
  readonly steps: readonly SideStep[];
  /** What an exact-input swap to the far edge of each bin takes and gives. */
  readonly levels: readonly DepthLevel[];
}

/** Both sides of a pool, each listing every bin from the current one to the pool's last in that direction. */
export type Sides = Readonly<Record<keyof PoolCurve, SideCurve>>;

type Side = Pick<SideCurve, 'priced' | 'zeroForOne' | 'fees' | 'bestX64'>;

/**
 * Walks a side bin by bin: each bin costs what its exact output costs, the fee on the whole comes off the output.
 *
 * @param bestX64 the pool's own price, where the fees do not give it exactly
 */
export function sideCurve(priced: PricedPool, zeroForOne: boolean, fees: SideFees, bestX64?: bigint): SideCurve {
  const slices = slicesFromCursor(priced, zeroForOne, fees);
  const side = { priced, zeroForOne, fees, bestX64: bestX64 ?? cursorPrice(slices[0], fees) };
  const steps: SideStep[] = [];
  const levels: DepthLevel[] = [];
  let outputBefore = 0n;
  let netBefore = 0n;
  let inputBefore = 0n;
  for (const slice of slices) {
    const step = { slice, outputBefore, netBefore, inputBefore };
    const fill = fillWhole(slice);
    steps.push(step);
    levels.push(levelAfter(side, step, fill));
    outputBefore += fill.output;
    netBefore += fill.net;
    inputBefore += fill.input;
  }
  return { ...side, steps, levels };
}

/** Price at the cursor with all fees, Q64.64, as the pool's `getSellAndBuyPrices` computes it; 0 for a side without bins. */
function cursorPrice(slice: BinSlice | undefined, { endFeeE8 }: SideFees): bigint {
  return slice === undefined ? 0n : withEndFee(chargedPrice(slice, slice.position), endFeeE8, slice.zeroForOne);
}

/**
 * The level at which a swap of this input (raw units) stops. An input beyond the side's depth stops at its end; null
 * for a side without bins.
 *
 * @param fill how the bin in which the input ends fills it
 */
export function levelAtInput(curve: SideCurve, inputRaw: bigint, fill = fillExactInput): DepthLevel | null {
  const [multiplierIn] = multipliers(curve);
  const input = (toScaled(inputRaw, multiplierIn) * E15) / (E15 + curve.fees.marginE15);
  const step = curve.steps.findLast(({ inputBefore }) => inputBefore < input) ?? curve.steps[0];
  return step === undefined ? null : levelAfter(curve, step, fill(step.slice, input - step.inputBefore));
}

/**
 * The part of a side that inputs up to `most` (raw units) reach: whole levels, all before index `end`, and a part of
 * one more for the rest. A pool solves for an input that ends inside a bin and may stop short by what a unit of it
 * buys. The last level therefore has the output that the pool gave, or surely gives.
 *
 * @param given output of a swap of `most`, raw units, where one was simulated
 */
export function levelsWithin(curve: SideCurve, most: bigint, end: number, given?: bigint): readonly DepthLevel[] {
  const whole = curve.levels.slice(0, end).filter(({ cumulativeInput }) => cumulativeInput <= most);
  const { cumulativeInput: reached, cumulativeOutput: least } = whole.at(-1) ?? NOTHING;
  const stop = most > reached ? levelAtInput(curve, most) : null;
  if (!stop) return whole;
  const surely = given ?? levelAtInput(curve, most, fillAtLeast)?.cumulativeOutput ?? 0n;
  return [...whole, { ...stop, cumulativeOutput: maxBigint(least, minBigint(stop.cumulativeOutput, surely)) }];
}

/**
 * The output (raw units) of the largest exact input that leaves the price within a limit (Q64.64, fees included): bids
 * stop before a lower price, asks before a higher one.
 */
export function outputWithin(curve: SideCurve, limitX64: bigint): bigint {
  const isWithin = (priceX64: bigint) => (curve.zeroForOne ? priceX64 >= limitX64 : priceX64 <= limitX64);
  const cut = curve.levels.findIndex(({ priceX64 }) => !isWithin(priceX64));
  const step = curve.steps[cut];
  if (!step) return curve.levels.at(-1)?.cumulativeOutput ?? 0n;
  const after = (output: bigint) => levelAfter(curve, step, fillExactOutput(step.slice, output));
  const { available } = step.slice;
  const most = bisect(0n, available, 1n, (output) => isWithin(after(output).priceX64));
  if (most === available) return after(most).cumulativeOutput;
  // A raw unit of the input may pay for more than the next unit of the output.
  return levelAtInput(curve, after(most + 1n).cumulativeInput - 1n)?.cumulativeOutput ?? 0n;
}

/** The largest input found (raw units) for which the pool surely pays out no more than this output (raw units). */
export function inputWithin(curve: SideCurve, outputRaw: bigint): bigint {
  const cut = curve.levels.findIndex(({ cumulativeOutput }) => cumulativeOutput > outputRaw);
  const step = curve.steps[cut];
  if (!step) return curve.levels.at(-1)?.cumulativeInput ?? 0n;
  const after = (output: bigint) => levelAfter(curve, step, fillExactOutput(step.slice, output));
  const isWithin = (output: bigint) => after(output).cumulativeOutput <= outputRaw;
  const first = bisect(0n, step.slice.available, 1n, isWithin) + 1n;
  const { input, net } = fillExactOutput(step.slice, first);
  const least = step.inputBefore + (curve.fees.isMean ? net : input);
  return surely(curve, (least - 1n) / multipliers(curve)[0]);
}

/** Lowers an input, raw units, so that the pool surely pays out no more than the curve says: measured fees may err. */
export function surely(curve: Pick<SideCurve, 'fees'>, input: bigint): bigint {
  return maxBigint(mayErr(curve) ? input - tolerance(input) : input, 0n);
}

/** Whether the fees of a curve are measured, so that its amounts may differ from those of the pool. */
export const mayErr = ({ fees }: Pick<SideCurve, 'fees'>): boolean => fees.isMean === true || fees.marginE15 > 0n;

/** What a swap of this exact output (raw units) takes, as far as the side goes. */
export function swapExactOutput(curve: SideCurve, outputRaw: bigint): SwapAmounts {
  const [multiplierIn, multiplierOut] = multipliers(curve);
  const output = toScaled(outputRaw, multiplierOut);
  const step = curve.steps.findLast(({ outputBefore }) => outputBefore < output) ?? curve.steps[0];
  if (step === undefined) return { amountIn: 0n, amountOut: 0n };
  const { slice, outputBefore, netBefore, inputBefore } = step;
  const rest = output - outputBefore;
  const fill = rest < slice.available ? fillExactOutput(slice, rest) : fillWhole(slice);
  const endFee = partE8(netBefore + fill.net, curve.fees.endFeeE8);
  return {
    amountIn: toRawCeil(raised(inputBefore + fill.input + endFee, curve.fees), multiplierIn),
    amountOut: toRawFloor(outputBefore + fill.output, multiplierOut),
  };
}

/** Scaled units per raw unit of what goes in and of what comes out. */
export function multipliers({ priced, zeroForOne }: Pick<Side, 'priced' | 'zeroForOne'>): readonly [bigint, bigint] {
  const { multiplier0, multiplier1 } = priced.state.scale;
  return zeroForOne ? [multiplier0, multiplier1] : [multiplier1, multiplier0];
}

/** Bins from the cursor outwards, as a swap meets them. Ends where prices reach zero: nothing can trade there. */
export function slicesFromCursor(priced: PricedPool, zeroForOne: boolean, fees: SideFees): BinSlice[] {
  const { cursor, lowestBin, highestBin } = priced.state;
  const slices: BinSlice[] = [];
  for (let bin = cursor.bin; bin >= lowestBin && bin <= highestBin; bin += zeroForOne ? -1 : 1) {
    const edges = binEdges(priced, bin);
    const content = binAt(priced.state, bin);
    const charge = fees.charge(content, bin);
    const lowestX64 = charge.on === 'net' ? edges.lowerX64 : (edges.lowerX64 * Q64) / charge.factorX64;
    if (lowestX64 === 0n) break;
    const farStart = zeroForOne ? MAX_POSITION : 0n;
    slices.push({
      bin,
      zeroForOne,
      edges,
      charge,
      chargedEdges: chargedEdges(edges, charge, zeroForOne),
      position: bin === cursor.bin ? cursor.position : farStart,
      available: zeroForOne ? content.token1Scaled : content.token0Scaled,
    });
  }
  return slices;
}

/** The level that ends with this fill of this bin. */
function levelAfter(side: Side, { slice, outputBefore, inputBefore }: SideStep, fill: BinFill): DepthLevel {
  const { fees, bestX64, zeroForOne } = side;
  const [multiplierIn, multiplierOut] = multipliers(side);
  const output = outputBefore + fill.output;
  const priceX64 = withEndFee(chargedPrice(slice, fill.position), fees.endFeeE8, zeroForOne);
  return {
    bin: slice.bin,
    priceX64,
    cumulativeOutput: toRawFloor(output - partE8(output, fees.endFeeE8), multiplierOut),
    cumulativeInput: toRawCeil(raised(inputBefore + fill.input, fees), multiplierIn),
    priceImpactE6: distanceE6Floor(priceX64, bestX64),
  };
}

function raised(input: bigint, { marginE15 }: SideFees): bigint {
  return marginE15 === 0n ? input : divCeil(input * (E15 + marginE15), E15);
}

function partE8(amount: bigint, feeE8: number): bigint {
  return mulDivFloor(amount, BigInt(feeE8), E8);
}

/** |price - best| in millionths of best, rounded down; 0 when best is 0 and there is nothing to compare with. */
export function distanceE6Floor(priceX64: bigint, bestX64: bigint): bigint {
  if (bestX64 === 0n) return 0n;
  const distance = priceX64 > bestX64 ? priceX64 - bestX64 : bestX64 - priceX64;
  return mulDivFloor(distance, E6, bestX64);
}
