import type { PoolCurve } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { divCeil, E6, E8, mulDivFloor, Q64 } from '../fixed-point.ts';
import { binAt, MAX_POSITION } from '../pool-state.ts';
import { toRawCeil, toRawFloor } from '../scaling.ts';
import { type BinFill, type BinSlice, chargedEdges, chargedPrice, fillWhole } from './bin-fill.ts';
import { binEdges, type PricedPool } from './ladder.ts';
import { type SideFees, withEndFee } from './side-fees.ts';

/** The unit of a margin. */
export const E15 = 10n ** 15n;

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

/**
 * Price at the cursor with all fees, Q64.64, as the pool's `getSellAndBuyPrices` computes it;
 * 0 for a side without bins.
 */
function cursorPrice(slice: BinSlice | undefined, { endFeeE8 }: SideFees): bigint {
  return slice === undefined ? 0n : withEndFee(chargedPrice(slice, slice.position), endFeeE8, slice.zeroForOne);
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
export function levelAfter(side: Side, step: SideStep, fill: BinFill): DepthLevel {
  const { slice, inputBefore } = step;
  const { fees, bestX64, zeroForOne } = side;
  const [multiplierIn] = multipliers(side);
  const priceX64 = withEndFee(chargedPrice(slice, fill.position), fees.endFeeE8, zeroForOne);
  return {
    bin: slice.bin,
    priceX64,
    cumulativeOutput: rawOutputAfter(side, step, fill.output),
    cumulativeInput: toRawCeil(raised(inputBefore + fill.input, fees), multiplierIn),
    priceImpactE6: distanceE6Floor(priceX64, bestX64),
  };
}

/** What a swap pays out, raw units, that ends with this output (scaled) of this bin. */
export function rawOutputAfter(side: Side, { outputBefore }: SideStep, ofBin: bigint): bigint {
  const output = outputBefore + ofBin;
  return toRawFloor(output - partE8(output, side.fees.endFeeE8), multipliers(side)[1]);
}

export function raised(input: bigint, { marginE15 }: SideFees): bigint {
  return marginE15 === 0n ? input : divCeil(input * (E15 + marginE15), E15);
}

export function partE8(amount: bigint, feeE8: number): bigint {
  return mulDivFloor(amount, BigInt(feeE8), E8);
}

/** |price - best| in millionths of best, rounded down; 0 when best is 0 and there is nothing to compare with. */
export function distanceE6Floor(priceX64: bigint, bestX64: bigint): bigint {
  if (bestX64 === 0n) return 0n;
  const distance = priceX64 > bestX64 ? priceX64 - bestX64 : bestX64 - priceX64;
  return mulDivFloor(distance, E6, bestX64);
}
