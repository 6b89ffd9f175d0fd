import type { PoolCurve, PoolSide } from '../../curve.ts';
import { MAX_INT128 } from '../../fixed-point.ts';
import { swapOutcome } from '../pool-errors.ts';
import type { Sides } from './formula-curve.ts';
import { levelsWithin, multipliers, type SideCurve } from './side-curve.ts';
import { encodeSimulation, type SimulationForm, SWAP_GAS_LIMIT } from './simulation.ts';
import { stopLossLimit } from './stop-loss-limit.ts';

/** Computed sides as the rest of the service sees them; guards ask the pool by simulations of this form. */
export function packedCurve({ bids, asks }: Sides, form: SimulationForm): PoolCurve {
  return { bids: packedSide(bids, form), asks: packedSide(asks, form) };
}

export function packedSide(curve: SideCurve, form: SimulationForm): PoolSide {
  const { zeroForOne, levels, priced } = curve;
  const [multiplierIn] = multipliers(curve);
  return {
    zeroForOne,
    levels,
    maxInput: MAX_INT128 / multiplierIn,
    levelsWithin: (most, end) => levelsWithin(curve, most, end),
    stopLossLimit: (mark, state) => stopLossLimit(curve, mark, state),
    swapGasLimit: SWAP_GAS_LIMIT,
    simulation: (amount, trader) =>
      encodeSimulation(form, { zeroForOne, amountSpecified: amount, quote: priced.quote, trader }),
    swapOutcome,
  };
}
