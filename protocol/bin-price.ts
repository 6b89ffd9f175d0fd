import { divCeil } from './fixed-point.ts';
import { MAX_POSITION } from './pool-state.ts';

/** Prices at a bin's edges, Q64.64. */
export interface BinEdges {
  readonly lowerX64: bigint;
  readonly upperX64: bigint;
}

/** Price at a position (0..MAX_POSITION) between two edges, rounded down. */
export function priceAtFloor({ lowerX64, upperX64 }: BinEdges, position: bigint): bigint {
  if (position === 0n) return lowerX64;
  if (position === MAX_POSITION) return upperX64;
  return (lowerX64 * (MAX_POSITION - position) + upperX64 * position) / MAX_POSITION;
}

/** Price at a position (0..MAX_POSITION) between two edges, rounded up. */
export function priceAtCeil({ lowerX64, upperX64 }: BinEdges, position: bigint): bigint {
  if (position === 0n) return lowerX64;
  if (position === MAX_POSITION) return upperX64;
  return divCeil(lowerX64 * (MAX_POSITION - position) + upperX64 * position, MAX_POSITION);
}
