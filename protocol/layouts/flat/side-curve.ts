import { priceAtFloor } from '../../bin-price.ts';
import { type DepthLevel, levelsReached } from '../../depth.ts';
import { E6, E8, mulDivFloor } from '../../fixed-point.ts';
import { MAX_POSITION } from '../../pool-state.ts';
import { toRawCeil, toRawFloor, toScaled } from '../../scaling.ts';
import { type BinFill, costBetweenCeil, fillExactInput, inputOf, paidPriceCeil } from './bin-fill.ts';
import { type NumberedSlice, slicesFromCursor } from './bin-slices.ts';
import { buyPriceCeil, framePrices, type PricedPool, sellPriceFloor } from './geometry.ts';

/** A bin of a side and what the side takes before it, scaled units. */
export interface SideStep {
  readonly slice: NumberedSlice;
  readonly outputBefore: bigint;
  readonly inputBefore: bigint;
}

/** One direction of a priced pool, walked once: levels and stops inside bins are read off it. */
export interface SideCurve {
  readonly priced: PricedPool;
  readonly zeroForOne: boolean;
  /** Fee-adjusted price at the cursor, Q64.64. */
  readonly bestX64: bigint;
  readonly steps: readonly SideStep[];
  readonly levels: readonly DepthLevel[];
}

export interface Sides {
  readonly bids: SideCurve;
  readonly asks: SideCurve;
}

/** Both sides, each listing every bin from the current one to the pool's last in that direction. */
export function walkSides(priced: PricedPool): Sides {
  return { bids: sideCurve(priced, true), asks: sideCurve(priced, false) };
}

/**
 * Walks a side bin by bin with the amounts of an exact-input swap: each bin costs what its exact output costs, the
 * notional fee comes off the output. Every pair of cumulative amounts is what the pool itself would take and give.
 */
export function sideCurve(priced: PricedPool, zeroForOne: boolean): SideCurve {
  const prices = framePrices(priced.state, priced.frame);
  const bestX64 = zeroForOne ? prices.sellX64 : prices.buyX64;
  const steps: SideStep[] = [];
  const levels: DepthLevel[] = [];
  const curve = { priced, zeroForOne, bestX64, steps, levels };
  let outputBefore = 0n;
  let inputBefore = 0n;
  let startPaidX64: bigint | undefined;
  for (const slice of slicesFromCursor(priced, zeroForOne)) {
    const farPosition = zeroForOne ? 0n : MAX_POSITION;
    // A bin starts where the last one ended, so each edge's paid price is computed once.
    const endPaidX64 = paidPriceCeil(slice, farPosition);
    const cost = costBetweenCeil(
      slice.available,
      startPaidX64 ?? paidPriceCeil(slice, slice.position),
      endPaidX64,
      slice.feeX64,
    );
    const step = { slice, outputBefore, inputBefore };
    steps.push(step);
    levels.push(levelAfter(curve, step, { output: slice.available, position: farPosition, ...cost }));
    outputBefore += slice.available;
    inputBefore += cost.net + cost.fee;
    startPaidX64 = endPaidX64;
  }
  return curve;
}

/**
 * The level of a stop wherever this input (raw units) leads. An input beyond the side's depth stops at its end; null for a
 * side without bins.
 */
export function levelAtInput(curve: SideCurve, inputRaw: bigint): DepthLevel | null {
  const { multiplier0, multiplier1 } = curve.priced.state.scale;
  const input = toScaled(inputRaw, curve.zeroForOne ? multiplier0 : multiplier1);
  const step = curve.steps.findLast(({ inputBefore }) => inputBefore < input) ?? curve.steps[0];
  return step === undefined ? null : levelAfter(curve, step, fillExactInput(step.slice, input - step.inputBefore));
}

/** As {@link levelsReached} tells. */
export const levelsWithin = (curve: SideCurve, most: bigint, end: number): readonly DepthLevel[] =>
  levelsReached(curve.levels, most, end, (input) => levelAtInput(curve, input));

type Side = Pick<SideCurve, 'priced' | 'zeroForOne' | 'bestX64'>;

/** The level that ends with this fill of this bin. */
function levelAfter(
  { priced, zeroForOne, bestX64 }: Side,
  { slice, outputBefore, inputBefore }: SideStep,
  fill: BinFill,
): DepthLevel {
  const { notionalFeeE8, scale } = priced.state;
  const [inputMultiplier, outputMultiplier] = zeroForOne
    ? [scale.multiplier0, scale.multiplier1]
    : [scale.multiplier1, scale.multiplier0];
  const output = outputBefore + fill.output;
  const notionalFee = mulDivFloor(output, BigInt(notionalFeeE8), E8);
  const marginalX64 = priceAtFloor(slice.edges, fill.position);
  const adjust = zeroForOne ? sellPriceFloor : buyPriceCeil;
  const priceX64 = adjust(marginalX64, slice.feeX64, notionalFeeE8);
  return {
    bin: slice.bin,
    priceX64,
    cumulativeOutput: toRawFloor(output - notionalFee, outputMultiplier),
    cumulativeInput: toRawCeil(inputBefore + inputOf(fill), inputMultiplier),
    priceImpactE6: distanceE6Floor(priceX64, bestX64),
  };
}

/** |price - best| in millionths of best, rounded down; 0 when best is 0 and there is nothing to compare with. */
function distanceE6Floor(priceX64: bigint, bestX64: bigint): bigint {
  if (bestX64 === 0n) return 0n;
  const distance = priceX64 > bestX64 ? priceX64 - bestX64 : bestX64 - priceX64;
  return mulDivFloor(distance, E6, bestX64);
}
