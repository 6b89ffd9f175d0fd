import type { SwapAmounts } from '../../curve.ts';
import { absBigint, divCeil, E6, maxBigint, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import { binAt, MAX_POSITION } from '../../pool-state.ts';
import { toScaled } from '../../scaling.ts';
import { fillExactOutput, fillWhole, priceAt } from '../bin-fill.ts';
import { multipliers, type SideCurve, type SideStep } from '../side-curve.ts';

/** A part of a bin that was simulated, from its start. */
export interface Stretch {
  readonly step: SideStep;
  /** Whether it ends where the bin does. */
  readonly isWhole: boolean;
  readonly from: SwapAmounts;
  readonly to: SwapAmounts;
}

/** Fees that a stretch or the cursor shows: the mean factor on the input, Q64.64, and the bin's additional fee. */
interface Measured {
  readonly factorX64: bigint;
  readonly addFeeE6: number;
}

/** Raw units that a stretch may owe to its neighbours, because pairs are rounded. */
const ROUNDED = 2n;
/** Amounts of at least this many raw units are compared: rounding does not matter there. */
const FINE = 1_000_000n;
/** An additional fee counts this many times, in case pools do not just add it. */
const MORE_EXPENSIVE = 2n;
/** Fees at an end differ from their mean by at most this many times the difference of means between stretches. */
const STEEPER = 2n;

/**
 * Computes prices with fees at the far ends of simulated stretches, Q64.64, rounded against the taker. Swaps show only
 * the mean fee over a stretch, not the fee at its end. Fees are taken to grow from the mean to the end by twice the
 * difference between the means of this stretch and the one before, additional fees aside. That is more than enough
 * where fees grow steadily with the price. Before the first stretch comes the cursor, with the pool's own price.
 *
 * @param stretches from the first step of the side
 * @param bestX64 the pool's own price
 */
export function stretchPrices(side: SideCurve, stretches: readonly Stretch[], bestX64: bigint): bigint[] {
  const [first] = stretches;
  if (first === undefined) return [];
  let before = atCursor(side, first.step, bestX64);
  return stretches.map((stretch) => {
    const { mean, isFine } = measure(side, stretch, before);
    const added = (BigInt(mean.addFeeE6 - before.addFeeE6) * Q64) / E6;
    const change = mean.factorX64 - before.factorX64 - added;
    const far = mean.factorX64 + STEEPER * absBigint(change);
    if (isFine) before = mean;
    const { step, isWhole, to } = stretch;
    const feeFreeX64 = priceAt(
      step.slice.edges,
      isWhole ? endOf(side) : positionAfter(side, step, to.amountOut),
      side.zeroForOne,
    );
    return side.zeroForOne ? mulDivFloor(feeFreeX64, Q64, far) : mulDivCeil(feeFreeX64, far, Q64);
  });
}

/** Raw units of output that pairs may lack, and units of 2^-64 that the pool's own price may. */
const UNSHOWN = 4n;

/**
 * Whether a side gives more in some bin than the pool's own price at the cursor allows: then the provider has given us
 * another quote than the pool. Prices get worse outwards, but for bins that charge a lower additional fee.
 *
 * @param reached what the side takes and gives up to the end of each step; undefined where that is not known
 */
export function beatsPrice(side: SideCurve, bestX64: bigint, reached: readonly (SwapAmounts | undefined)[]): boolean {
  const [multiplierIn, multiplierOut] = multipliers(side);
  const addFees = side.steps.map((step) => addFeeOf(side, step));
  // Amounts up to the end of a bin may end behind it.
  const less = MORE_EXPENSIVE * BigInt((addFees[0] ?? 0) - Math.min(...addFees));
  let from: SwapAmounts = { amountIn: 0n, amountOut: 0n };
  return reached.some((to) => {
    if (!to) return false;
    const paid = (to.amountIn - from.amountIn + 1n) * multiplierIn;
    const given = (to.amountOut - from.amountOut - UNSHOWN) * multiplierOut;
    from = to;
    return side.zeroForOne
      ? given * Q64 * E6 > paid * (bestX64 + UNSHOWN) * (E6 + less)
      : paid * Q64 * (E6 + less) < given * (bestX64 - UNSHOWN) * E6;
  });
}

/** The mean of a stretch, rounded up, and whether its amounts are large enough to compare it with others. */
function measure(side: SideCurve, { step, from, to }: Stretch, before: Measured) {
  const output = to.amountOut - from.amountOut;
  const net = netOfOutput(side, to.amountOut) - netOfOutput(side, from.amountOut);
  const addFeeE6 = addFeeOf(side, step);
  if (output <= ROUNDED || net <= 0n) {
    const more = MORE_EXPENSIVE * BigInt(Math.max(addFeeE6 - before.addFeeE6, 0));
    return { mean: { factorX64: mulDivCeil(before.factorX64, E6 + more, E6), addFeeE6 }, isFine: false };
  }
  const paid = (to.amountIn - from.amountIn + 1n) * multipliers(side)[0];
  const factorX64 = maxBigint(divCeil(paid * Q64 * output, net * (output - ROUNDED)), Q64);
  return { mean: { factorX64, addFeeE6 }, isFine: output >= FINE && to.amountIn - from.amountIn >= FINE };
}

function atCursor(side: SideCurve, step: SideStep, bestX64: bigint): Measured {
  const price = priceAt(step.slice.edges, step.slice.position, side.zeroForOne);
  const [expensive, cheap] = side.zeroForOne ? [price, bestX64] : [bestX64, price];
  const factorX64 = cheap === 0n ? Q64 : maxBigint(mulDivCeil(expensive, Q64, cheap), Q64);
  return { factorX64, addFeeE6: addFeeOf(side, step) };
}

/** Input before fees of an exact output (raw units), scaled. */
export function netOfOutput(side: SideCurve, outputRaw: bigint): bigint {
  const output = toScaled(outputRaw, multipliers(side)[1]);
  const step = side.steps.findLast(({ outputBefore }) => outputBefore < output);
  if (step === undefined) return 0n;
  const { slice, outputBefore, netBefore } = step;
  const rest = output - outputBefore;
  return netBefore + (rest < slice.available ? fillExactOutput(slice, rest) : fillWhole(slice)).net;
}

const endOf = ({ zeroForOne }: SideCurve): bigint => (zeroForOne ? 0n : MAX_POSITION);

/** Position at which an output of the side, raw units, ends inside this bin. */
function positionAfter(side: SideCurve, { slice, outputBefore }: SideStep, outputRaw: bigint): bigint {
  const output = toScaled(outputRaw, multipliers(side)[1]) - outputBefore;
  if (output <= 0n) return slice.position;
  return output < slice.available ? fillExactOutput(slice, output).position : endOf(side);
}

function addFeeOf({ priced, zeroForOne }: SideCurve, { slice }: SideStep): number {
  const { addFeeSellE6, addFeeBuyE6 } = binAt(priced.state, slice.bin);
  return zeroForOne ? addFeeSellE6 : addFeeBuyE6;
}
