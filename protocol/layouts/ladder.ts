import type { BinEdges } from '../bin-price.ts';
import type { BidAsk } from '../curve.ts';
import { E6, mulDivFloor } from '../fixed-point.ts';
import type { PoolState } from '../pool-state.ts';

/** What a price provider quotes: token1 per whole token0, Q64.64. The reference anchors the bins. */
export interface ProviderQuote extends BidAsk {
  readonly referenceX64: bigint;
}

/** A pool with its bins laid around a reference: all that a curve needs except the fees. */
export interface PricedPool {
  readonly state: PoolState;
  readonly quote: ProviderQuote;
  /** Price of every bin edge, Q64.64, as `edgeDistancesE6` orders them. */
  readonly edgesX64: readonly bigint[];
}

/** Lays a pool's bins around the reference of a tradable quote. */
export function pricePool(state: PoolState, quote: ProviderQuote): PricedPool {
  const edgesX64 = edgeDistancesE6(state).map((distE6) => edgePriceFloor(quote.referenceX64, distE6));
  return { state, quote, edgesX64 };
}

/** Price at a signed distance (millionths) from the reference. Zero at or below -1e6, where a pool has no price. */
export function edgePriceFloor(referenceX64: bigint, distE6: number): bigint {
  return distE6 <= -1e6 ? 0n : mulDivFloor(referenceX64, BigInt(1_000_000 + distE6), E6);
}

/**
 * Signed distances (millionths) of bin edges from the reference: entry i is the lower edge of the bin at index i of
 * `state.bins`; one more entry gives the upper edge of the highest bin.
 */
export function edgeDistancesE6({ cursor, lowestBin, bins }: PoolState): number[] {
  const lengths = bins.map(({ lengthE6 }) => lengthE6);
  const below = lengths.slice(0, cursor.bin - lowestBin).reduce((sum, length) => sum + length, 0);
  const distances = [cursor.lowerDistE6 - below];
  let distance = cursor.lowerDistE6 - below;
  for (const length of lengths) {
    distance += length;
    distances.push(distance);
  }
  return distances;
}

/** Prices at the edges of a bin. Throws a RangeError for a bin that the pool does not have. */
export function binEdges({ state, edgesX64 }: PricedPool, bin: number): BinEdges {
  const lowerX64 = edgesX64[bin - state.lowestBin];
  const upperX64 = edgesX64[bin - state.lowestBin + 1];
  if (lowerX64 === undefined || upperX64 === undefined) throw new RangeError(`the pool has no bin ${bin}`);
  return { lowerX64, upperX64 };
}
