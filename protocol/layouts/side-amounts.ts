import { bisect } from '../bisect.ts';
import type { SwapAmounts } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { E8, maxBigint, minBigint } from '../fixed-point.ts';
import { toRawCeil, toRawFloor, toScaled } from '../scaling.ts';
import { fillAtLeast, fillExactInput, fillExactOutput, fillWhole, largestAffordable } from './bin-fill.ts';
import {
  E15,
  levelAfter,
  multipliers,
  partE8,
  raised,
  rawOutputAfter,
  type SideCurve,
  type SideStep,
} from './side-curve.ts';
import { surely } from './tolerance.ts';

const NOTHING = { cumulativeInput: 0n, cumulativeOutput: 0n };

/**
 * The level at which a swap of this input (raw units) stops. An input beyond the side's depth stops at its end; null
 * for a side without bins.
 *
 * @param fill how the bin in which the input ends fills it
 */
export function levelAtInput(curve: SideCurve, inputRaw: bigint, fill = fillExactInput): DepthLevel | null {
  const end = stepAtInput(curve, inputRaw);
  return end && levelAfter(curve, end.step, fill(end.step.slice, end.rest));
}

/** The output (raw units) of {@link levelAtInput}, without its price; zero for a side without bins. */
export function outputOf(curve: SideCurve, inputRaw: bigint): bigint {
  const end = stepAtInput(curve, inputRaw);
  return end ? rawOutputAfter(curve, end.step, largestAffordable(end.step.slice, end.rest)) : 0n;
}

/** The bin in which a swap of this input ends, and what of the input (scaled) is left for it; null without bins. */
function stepAtInput(curve: SideCurve, inputRaw: bigint): { readonly step: SideStep; readonly rest: bigint } | null {
  const [multiplierIn] = multipliers(curve);
  const input = (toScaled(inputRaw, multiplierIn) * E15) / (E15 + curve.fees.marginE15);
  const step = curve.steps.findLast(({ inputBefore }) => inputBefore < input) ?? curve.steps[0];
  return step === undefined ? null : { step, rest: input - step.inputBefore };
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
  const net = (outputRaw + 1n) * multipliers(curve)[1] - 1n;
  const most = (net * E8) / (E8 - BigInt(curve.fees.endFeeE8)) - step.outputBefore;
  const first = minBigint(maxBigint(most, 0n), step.slice.available - 1n) + 1n;
  const fill = fillExactOutput(step.slice, first);
  const least = step.inputBefore + (curve.fees.isMean ? fill.net : fill.input);
  return surely(curve, (least - 1n) / multipliers(curve)[0]);
}

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
