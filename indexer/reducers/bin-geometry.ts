import type { BinShape, PoolCreation } from '../../protocol/pool-events.ts';

/** A pool starts in this bin, at its lower edge. */
export const FIRST_BIN = 0;

/**
 * Signed distance of each bin's lower edge from the mid price, in millionths. It never changes: the ladder of bins moves
 * with the price as a whole.
 */
export function withLowerDistances({ bins, curBinDistE6 }: Pick<PoolCreation, 'bins' | 'curBinDistE6'>) {
  const below = bins.filter(({ bin }) => bin < FIRST_BIN).reduce((sum, { lengthE6 }) => sum + lengthE6, 0);
  let lowerDistE6 = curBinDistE6 - below;
  return bins.map((shape: BinShape) => {
    const placed = { ...shape, lowerDistE6 };
    lowerDistE6 += shape.lengthE6;
    return placed;
  });
}
