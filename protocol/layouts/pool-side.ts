import type { PoolCurve, PoolSide } from '../curve.ts';
import { MAX_INT128 } from '../fixed-point.ts';
import { filledSwap, swapOutcome } from '../pool-errors.ts';
import type { LayoutParts } from './create-adapter.ts';
import { inputWithin, levelsWithin, outputOf, outputWithin } from './side-amounts.ts';
import { multipliers, type SideCurve, type Sides } from './side-curve.ts';
import { stopLossLimit } from './stop-loss-limit.ts';
import { mayErr } from './tolerance.ts';

type Simulation = Pick<LayoutParts['simulation'], 'encode' | 'amountOffset' | 'gasLimit'>;

/** Makes a pool's curve of computed sides. Guards are probed by swaps that are simulated in this form. */
export function poolCurve(sides: Sides, of: Simulation, form: string): PoolCurve {
  return { bids: poolSide(sides.bids, of, form), asks: poolSide(sides.asks, of, form) };
}

/** One side of {@link poolCurve}. */
export function poolSide(curve: SideCurve, { encode, amountOffset, gasLimit }: Simulation, form: string): PoolSide {
  const { zeroForOne, levels, priced } = curve;
  const [multiplierIn] = multipliers(curve);
  return {
    zeroForOne,
    levels,
    maxInput: MAX_INT128 / multiplierIn,
    levelsWithin: ({ most, level, filled }) => levelsWithin(curve, most, level, filledSwap(curve, filled)?.amountOut),
    inputWithin: (outputRaw) => inputWithin(curve, outputRaw),
    outputWithin: (limitX64) => outputWithin(curve, limitX64),
    outputOf: mayErr(curve) ? null : (inputRaw) => outputOf(curve, inputRaw),
    stopLossLimit: (mark, state) => stopLossLimit(curve, mark, state),
    swapGasLimit: gasLimit,
    simulation: (amountSpecified, trader) => encode(form, { zeroForOne, amountSpecified, quote: priced.quote, trader }),
    amountOffset: amountOffset(form),
    swapOutcome,
  };
}
