import { E6 } from '../fixed-point.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop } from './hop.ts';
import { type Order, scorePaths } from './score.ts';
import { type HopFill, isBetter, type PlanFill, type RouteFill, settle } from './settle.ts';
import { findSplit, type SplitLimits } from './split.ts';

export interface RoutingLimits extends SplitLimits {
  /** A baseline with a smaller price impact than this (millionths) is not split. */
  readonly splitThresholdE6: number;
  /** What a split must gain over the baseline, in millionths of it. */
  readonly minImprovementE6: number;
}

/** Why there is no plan: no path at all, or no path that can take the whole order. */
export type NoPlan = 'no_route' | 'insufficient_liquidity';

export interface FoundPlan<P extends GraphPool> {
  /** The best route for the whole order alone. */
  readonly baseline: RouteFill<P>;
  /** The baseline, or a split that beats it. */
  readonly plan: PlanFill<P>;
  /** Number of paths scored. */
  readonly considered: number;
}

/**
 * Finds the plan for an order.
 *
 * @param paths legs near first
 * @param tick called between steps of the search; throws to stop it
 */
export function findPlan<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  order: Order,
  limits: RoutingLimits,
  tick: () => void,
): FoundPlan<P> | NoPlan {
  const { considered, best } = scorePaths(paths, order, tick);
  if (considered === 0) return 'no_route';
  const single = best && settle([{ path: best, given: order.given }]);
  const baseline = single?.routes[0];
  if (!single || !baseline) return 'insufficient_liquidity';
  const mayGain = limits.maxRoutes > 1 && considered > 1 && routeImpactE6(baseline) >= BigInt(limits.splitThresholdE6);
  const split = mayGain ? findSplit(paths, baseline.path, order, limits, tick) : null;
  const plan = split && beats(split, single, order, limits.minImprovementE6) ? split : single;
  return { baseline, plan, considered };
}

/** Whether a split is better than the baseline by at least the given part of it. */
function beats<P extends GraphPool>(split: PlanFill<P>, single: PlanFill<P>, order: Order, leastE6: number): boolean {
  if (!isBetter(order.tradeType, split.found, single.found)) return false;
  const gain = split.found > single.found ? split.found - single.found : single.found - split.found;
  return gain * E6 >= single.found * BigInt(leastE6);
}

/** Price impact at the far edge of the last bin that the fill reaches, in millionths. */
export function hopImpactE6<P extends GraphPool>({ hop, level }: HopFill<P>): bigint {
  const reached = hop.side[level];
  if (!reached) throw new RangeError(`level ${level} is outside the side's depth`);
  return reached.priceImpactE6;
}

/** The largest impact among a route's pools, in millionths. */
export function routeImpactE6<P extends GraphPool>({ fills }: RouteFill<P>): bigint {
  let largest = 0n;
  for (const fill of fills) {
    const impact = hopImpactE6(fill);
    if (impact > largest) largest = impact;
  }
  return largest;
}
