import { Q64 } from '../../fixed-point.ts';
import { toScaled } from '../../scaling.ts';
import { fillExactOutput, fillWhole } from '../bin-fill.ts';
import type { PricedPool } from '../ladder.ts';
import { multipliers, type SideCurve, sideCurve } from '../side-curve.ts';
import type { SideFees } from '../side-fees.ts';

const NO_FEES: SideFees = { charge: () => ({ on: 'net', factorX64: Q64 }), endFeeE8: 0, marginE15: 0n, leavesE6: null };

/** A side as if nothing were charged: what bins hold and where, which is certain whatever a pool charges. */
export function bareSide(priced: PricedPool, zeroForOne: boolean): SideCurve {
  return sideCurve(priced, zeroForOne, NO_FEES);
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
