import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import { isRejection, SMALLEST_SWAP } from '../../curve.ts';
import type { PricedPool } from '../ladder.ts';
import { swapOutcome } from '../pool-errors.ts';
import { bareSide } from './bare-side.ts';
import { filledSwap, type Probe } from './searched-swaps.ts';

/** Swaps that a pool must not fill where it is read rightly: of each side that holds less than a raw unit, its smallest. */
export function emptySideProbes(priced: PricedPool): readonly Probe[] {
  return [true, false]
    .filter((zeroForOne) => (bareSide(priced, zeroForOne).levels.at(-1)?.cumulativeOutput ?? 0n) === 0n)
    .map((zeroForOne) => ({ zeroForOne, amountSpecified: SMALLEST_SWAP }));
}

/**
 * Whether a swap shows that a side is empty: it gives nothing. A rejection shows nothing, but where guards are asked they
 * close the side.
 */
export function isShownEmpty(probe: Probe, result: CallResult | undefined, isGuarded: boolean): boolean {
  if (!result) return false;
  const outcome = swapOutcome(result);
  if (outcome === 'fills') return filledSwap(probe, result)?.amountOut === 0n;
  return isGuarded || !isRejection(outcome);
}
