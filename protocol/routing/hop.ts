import type { DepthLevel } from '../depth.ts';
import { type FillCurve, fillCurve, type TradeType } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';

/** A pool in one direction. One object stands for it in every route of a search, so liquidity is counted by identity. */
export interface Hop<P extends GraphPool = GraphPool> {
  readonly pool: P;
  readonly zeroForOne: boolean;
  /** The side's depth: bids when token0 is sold, asks when it is bought. */
  readonly side: readonly DepthLevel[];
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

type CurvePair = { [T in TradeType]?: FillCurve };

const curves = new WeakMap<readonly DepthLevel[], CurvePair>();

/** A hop over a side of depth. Its curve is made once for each side object, so requests that share a snapshot share it. */
export function makeHop<P extends GraphPool>(
  pool: P,
  zeroForOne: boolean,
  side: readonly DepthLevel[],
  tradeType: TradeType,
): Hop<P> {
  const known = curves.get(side) ?? {};
  curves.set(side, known);
  const curve = known[tradeType] ?? fillCurve(side, tradeType);
  known[tradeType] = curve;
  return { pool, zeroForOne, side, curve };
}
