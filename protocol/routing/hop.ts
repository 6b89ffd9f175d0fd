import type { FillCurve } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';

/** A pool in one direction. One object stands for it in every route of a search, so liquidity is counted by identity. */
export interface Hop<P extends GraphPool = GraphPool> {
  readonly pool: P;
  readonly zeroForOne: boolean;
  readonly curve: FillCurve;
}

/**
 * A route in the order in which amounts follow from each other: `near` takes the amount that the trader fixes, `far`
 * what `near` leads to. That is trade order for `exact_in` and the reverse for `exact_out`. No `far`: a direct route.
 */
export interface HopPath<P extends GraphPool = GraphPool> {
  readonly near: Hop<P>;
  readonly far: Hop<P> | null;
}

/** A route with the part of the order that it takes, raw units of the fixed amount. */
export interface PathShare<P extends GraphPool = GraphPool> {
  readonly path: HopPath<P>;
  readonly given: bigint;
}
