import { Q64 } from '../../fixed-point.ts';
import type { PricedPool } from '../ladder.ts';
import { type SideCurve, sideCurve } from '../side-curve.ts';
import type { SideFees } from '../side-fees.ts';

const NO_FEES: SideFees = { charge: () => ({ on: 'net', factorX64: Q64 }), endFeeE8: 0, marginE15: 0n, leavesE6: null };

/** Computes a side as if no fees were charged: what bins hold and where, which is certain whatever the pool charges. */
export const feeFreeSide = (priced: PricedPool, zeroForOne: boolean): SideCurve =>
  sideCurve(priced, zeroForOne, NO_FEES);
