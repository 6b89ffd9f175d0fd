import type { PoolCreation } from '../../protocol/pool-events.ts';

/** A pool starts in this bin, at its lower edge. */
export const FIRST_BIN = 0;

/**
 * Signed distance of each bin's lower edge from the mid price, in millionths. It never changes: the ladder of bins moves
 * with the price as a whole.
 */
export function lowerDistances({ bins, curBinDistE6 }: Pick<PoolCreation, 'bins' | 'curBinDistE6'>): number[] {
  const below = bins.filter(({ bin }) => bin < FIRST_BIN).reduce((sum, { lengthE6 }) => sum + lengthE6, 0);
  let next = curBinDistE6 - below;
  return bins.map(({ lengthE6 }) => {
    const lowerDistE6 = next;
    next += lengthE6;
    return lowerDistE6;
  });
}
