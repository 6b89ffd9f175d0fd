import { priceAtCeil, priceAtFloor } from '../../bin-price.ts';
import { divCeil, E6, maxBigint, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import { binAt, MAX_POSITION } from '../../pool-state.ts';
import { toScaled } from '../../scaling.ts';
import { fillExactOutput } from '../bin-fill.ts';
import { multipliers, type SideCurve, type SideStep, type SwapAmounts } from '../side-curve.ts';
import { netOfOutput } from './bare-side.ts';

/** A part of a bin that was simulated, from its start. */
export interface Stretch {
  readonly step: SideStep;
  /** Whether it ends where the bin does. */
  readonly isWhole: boolean;
  readonly from: SwapAmounts;
  readonly to: SwapAmounts;
}

/** What a stretch, or the cursor, tells of the fees. Prices without fees, Q64.64. */
interface Measured {
  readonly farX64: bigint;
  readonly midX64: bigint;
  /** Mean factor of the fees on the input, rounded up; of a stretch with too little output what it was before. */
  readonly factorX64: bigint;
  readonly addFeeE6: number;
  /** Whether amounts are large enough to compare the factor with others. */
  readonly isFine: boolean;
}

/** Raw units that a stretch may owe to its neighbours, since pairs are rounded. */
const ROUNDED = 2n;
/** Raw units from which rounding is no matter. */
const FINE = 1_000_000n;
/** What an additional fee is worth at most, if it is not just added. */
const DEARER = 2n;
/** Factors may fall and grow again inside a stretch: they change this many times as fast as means tell, at most. */
const STEEPER = 2n;
/** A distance of prices tells how factors grow over half of a stretch that is at most this many times as long. */
const FARTHEST = 4n;

/**
 * Prices with fees at the far ends of simulated stretches, Q64.64, rounded against the taker. What the fees are at an end is
 * not simulated, their mean over the stretch is: they are taken to grow from the middle to the end twice as fast as they
 * change anywhere between neighbouring stretches beside their additional fees, the pool's own price at the cursor included.
 * Where nothing tells how they change, they are taken to double.
 *
 * @param stretches from the first step of the side
 * @param bestX64 the pool's own price
 */
export function stretchPrices(side: SideCurve, stretches: readonly Stretch[], bestX64: bigint): bigint[] {
  const [first] = stretches;
  if (first === undefined) return [];
  let before = atCursor(side, first.step, bestX64);
  const measured = [before];
  for (const stretch of stretches) {
    before = measure(side, stretch, before);
    measured.push(before);
  }
  const growth = fastestGrowth(measured);
  return measured.slice(1).map((stretch) => {
    const { farX64, factorX64 } = stretch;
    const far = factorX64 + (growth === null ? factorX64 - Q64 : mulDivCeil(growth, halfOf(stretch), Q64));
    return side.zeroForOne ? mulDivFloor(farX64, Q64, far) : mulDivCeil(farX64, far, Q64);
  });
}

function measure(side: SideCurve, { step, isWhole, from, to }: Stretch, before: Measured): Measured {
  const output = to.amountOut - from.amountOut;
  const net = netOfOutput(side, to.amountOut) - netOfOutput(side, from.amountOut);
  const farX64 = barePrice(side, step, isWhole ? endOf(side) : positionAfter(side, step, to.amountOut));
  const addFee = addFeeE6(side, step);
  const more = BigInt(Math.max(addFee - before.addFeeE6, 0));
  const raised = (by: bigint) => mulDivCeil(before.factorX64, E6 + by, E6);
  if (output <= ROUNDED || net <= 0n) {
    return { farX64, midX64: before.midX64, factorX64: raised(DEARER * more), addFeeE6: addFee, isFine: false };
  }
  const paid = (to.amountIn - from.amountIn + 1n) * multipliers(side)[0];
  const mean = divCeil(paid * Q64 * output, net * (output - ROUNDED));
  return {
    farX64,
    midX64: (barePrice(side, step, step.slice.position) + farX64) / 2n,
    // A pair may end a little short of its bin: beside much of that, little of the next does not show what it charges.
    factorX64: maxBigint(mean, more > 0n && before.isFine ? raised(more) : Q64),
    addFeeE6: addFee,
    isFine: output >= FINE && to.amountIn - from.amountIn >= FINE,
  };
}

function atCursor(side: SideCurve, step: SideStep, bestX64: bigint): Measured {
  const price = barePrice(side, step, step.slice.position);
  const [dear, cheap] = side.zeroForOne ? [price, bestX64] : [bestX64, price];
  const factorX64 = cheap === 0n ? Q64 : maxBigint(mulDivCeil(dear, Q64, cheap), Q64);
  return { farX64: price, midX64: price, factorX64, addFeeE6: addFeeE6(side, step), isFine: cheap > 0n };
}

/** How factors change over a distance of prices beside the additional fees, Q64.64; null when no two can be compared. */
function fastestGrowth(measured: readonly Measured[]): bigint | null {
  let fastest: bigint | null = null;
  const longest = measured
    .filter(({ isFine }) => isFine)
    .map(halfOf)
    .reduce(maxBigint, 0n);
  for (const [index, { midX64, factorX64, addFeeE6, isFine }] of measured.entries()) {
    const before = measured[index - 1];
    if (!before?.isFine || !isFine) continue;
    const distance = difference(midX64, before.midX64);
    if (distance * FARTHEST < longest) continue;
    const fees = (BigInt(addFeeE6 - before.addFeeE6) * Q64) / E6;
    const growth = difference(factorX64, before.factorX64 + fees);
    fastest = maxBigint(fastest ?? 0n, mulDivCeil(STEEPER * growth, Q64, maxBigint(distance, 1n)));
  }
  return fastest;
}

const halfOf = ({ farX64, midX64 }: Measured): bigint => difference(farX64, midX64);
const difference = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);
const endOf = ({ zeroForOne }: SideCurve): bigint => (zeroForOne ? 0n : MAX_POSITION);

/** Where an output of the side, raw units, ends that lies inside this bin. */
function positionAfter(side: SideCurve, { slice, outputBefore }: SideStep, outputRaw: bigint): bigint {
  const output = toScaled(outputRaw, multipliers(side)[1]) - outputBefore;
  if (output <= 0n) return slice.position;
  return output < slice.available ? fillExactOutput(slice, output).position : endOf(side);
}

const barePrice = ({ zeroForOne }: SideCurve, { slice }: SideStep, position: bigint): bigint =>
  zeroForOne ? priceAtFloor(slice.edges, position) : priceAtCeil(slice.edges, position);

function addFeeE6({ priced, zeroForOne }: SideCurve, { slice }: SideStep): number {
  const { addFeeSellE6, addFeeBuyE6 } = binAt(priced.state, slice.bin);
  return zeroForOne ? addFeeSellE6 : addFeeBuyE6;
}
