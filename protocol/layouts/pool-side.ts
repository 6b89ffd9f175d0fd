import type { PoolCurve, PoolSide } from '../curve.ts';
import { MAX_INT128, minBigint } from '../fixed-point.ts';
import { filledSwap, swapOutcome } from '../pool-errors.ts';
import { binAt } from '../pool-state.ts';
import type { LayoutParts } from './create-adapter.ts';
import { inputWithin, levelsWithin, outputOf, outputWithin } from './side-amounts.ts';
import { multipliers, type SideCurve, type Sides } from './side-curve.ts';
import { stopLossLimit } from './stop-loss-limit.ts';
import { mayErr } from './tolerance.ts';

/** The most that a bin holds of a token, scaled: a swap that would bring more reverts. */
const MAX_BALANCE = (1n << 104n) - 1n;

type Simulation = Pick<LayoutParts['simulation'], 'encode' | 'amountOffset' | 'gasLimit'>;

/** Makes a pool's curve of computed sides. Guards are probed by swaps that are simulated in this form. */
export function poolCurve(sides: Sides, of: Simulation, form: string): PoolCurve {
  return { bids: poolSide(sides.bids, of, form), asks: poolSide(sides.asks, of, form) };
}

/** One side of {@link poolCurve}. */
export function poolSide(curve: SideCurve, { encode, amountOffset, gasLimit }: Simulation, form: string): PoolSide {
  const { zeroForOne, priced } = curve;
  const maxInput = mostCarried(curve);
  const isWhole = (curve.levels.at(-1)?.cumulativeInput ?? 0n) <= maxInput;
  const levels = isWhole ? curve.levels : levelsWithin(curve, maxInput, curve.levels.length);
  return {
    zeroForOne,
    levels,
    maxInput,
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

/**
 * The largest input, raw units, that one swap can carry and that bins have room for, whatever part of its fees stays.
 * Simulated swaps have shown the room for what they took.
 */
function mostCarried(curve: SideCurve): bigint {
  const { zeroForOne, priced, steps, levels, fees } = curve;
  const [multiplierIn] = multipliers(curve);
  const roomIn = (bin: number): bigint => {
    const { token0Scaled, token1Scaled } = binAt(priced.state, bin);
    return MAX_BALANCE - (zeroForOne ? token0Scaled : token1Scaled);
  };
  const full = fees.isMean
    ? undefined
    : steps.find(({ slice, inputBefore }, index) => {
        const input = (levels[index]?.cumulativeInput ?? 0n) * multiplierIn - inputBefore;
        return input > roomIn(slice.bin);
      });
  return minBigint(MAX_INT128, full ? full.inputBefore + roomIn(full.slice.bin) : MAX_INT128) / multiplierIn;
}
