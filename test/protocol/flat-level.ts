import { priceAtFloor } from '../../protocol/bin-price.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { E6, E8 } from '../../protocol/fixed-point.ts';
import { fillExactOutput, withFee } from '../../protocol/layouts/bin-fill.ts';
import type { SideCurve, SideStep } from '../../protocol/layouts/side-curve.ts';
import { withEndFee } from '../../protocol/layouts/side-fees.ts';
import { toRawCeil, toRawFloor } from '../../protocol/scaling.ts';

/** The level of a stop inside a bin, after exactly this much of the bin's output (scaled, 0..available). */
export function levelAtOutput(
  { priced: { state }, zeroForOne, bestX64 }: SideCurve,
  { slice, outputBefore, inputBefore }: SideStep,
  outputScaled: bigint,
): DepthLevel {
  const { multiplier0, multiplier1 } = state.scale;
  const fill = fillExactOutput(slice, outputScaled);
  const output = outputBefore + fill.output;
  const charged = withFee(priceAtFloor(slice.edges, fill.position), slice.charge, zeroForOne);
  const priceX64 = withEndFee(charged, state.notionalFeeE8, zeroForOne);
  const distance = priceX64 > bestX64 ? priceX64 - bestX64 : bestX64 - priceX64;
  return {
    bin: slice.bin,
    priceX64,
    cumulativeOutput: toRawFloor(
      output - (output * BigInt(state.notionalFeeE8)) / E8,
      zeroForOne ? multiplier1 : multiplier0,
    ),
    cumulativeInput: toRawCeil(inputBefore + fill.input, zeroForOne ? multiplier0 : multiplier1),
    priceImpactE6: bestX64 === 0n ? 0n : (distance * E6) / bestX64,
  };
}
