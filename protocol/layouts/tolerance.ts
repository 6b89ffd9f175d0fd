import { maxBigint } from '../fixed-point.ts';
import type { SideFees } from './side-fees.ts';

/** How far a curve of measured fees may be from the pool's own: raw units, and one part of the amount. */
export const TOLERANCE = { units: 2n, part: 2_500_000_000_000n } as const;

/** By how much an amount of such a curve may differ, raw units. */
export const tolerance = (amount: bigint): bigint => TOLERANCE.units + amount / TOLERANCE.part;

interface HasFees {
  readonly fees: SideFees;
}

/** Lowers an input, raw units, so that the pool surely pays out no more than the curve says: measured fees may err. */
export function surely(curve: HasFees, input: bigint): bigint {
  return maxBigint(mayErr(curve) ? input - tolerance(input) : input, 0n);
}

/** Whether the fees of a curve are measured, so that its amounts may differ from those of the pool. */
export const mayErr = ({ fees }: HasFees): boolean => fees.isMean === true || fees.marginE15 > 0n;
