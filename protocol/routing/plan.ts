import { absBigint, E6, maxBigint } from '../fixed-point.ts';
import { capacity, foundAt } from './fill-curve.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import {
  afterCost,
  type Hop,
  type HopFill,
  type HopPath,
  isBetter,
  type Order,
  type PlanFill,
  type RouteFill,
  settle,
} from './routes.ts';
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
  const split = mayGain ? findSplit(paths, baseline.path, order, { ...limits, tick }) : null;
  const plan = split && beats(split, single, order, limits.minImprovementE6) ? split : single;
  return { baseline, plan, considered };
}

interface Scores<P extends GraphPool> {
  /** Number of candidate paths walked. */
  readonly considered: number;
  /** The path that is best for the whole order; null when no path can take it whole. */
  readonly best: HopPath<P> | null;
}

/**
 * Walks every path of the token paths (legs near first) for the whole order and keeps the best, the first of equal
 * ones.
 *
 * @param tick called once per near hop; throws to stop the search
 */
function scorePaths<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  order: Order,
  tick: () => void,
): Scores<P> {
  let considered = 0;
  let best: { path: HopPath<P>; found: bigint } | null = null;
  const offer = (path: HopPath<P>, output: bigint) => {
    if (output === 0n) return;
    const single = order.costOf && settle([{ path, given: order.given }]);
    const found = single ? afterCost(order, single) : output;
    if (!best || isBetter(order.tradeType, found, best.found)) best = { path, found };
  };
  for (const { legs } of paths) {
    for (const near of legs[0]) {
      tick();
      considered += legs[1]?.length ?? 1;
      const found = follow(near, order.given);
      if (!legs[1]) offer({ near, far: null }, found);
      else if (found > 0n) for (const far of legs[1]) offer({ near, far }, follow(far, found));
    }
  }
  return { considered, best: (best as { path: HopPath<P> } | null)?.path ?? null };
}

/** What an amount leads to through a hop; 0 when the hop cannot take it whole. */
function follow<P extends GraphPool>({ curve }: Hop<P>, given: bigint): bigint {
  return given > capacity(curve) ? 0n : foundAt(curve, given);
}

/** Whether a split is better than the baseline by at least the given part of it. */
function beats<P extends GraphPool>(split: PlanFill<P>, single: PlanFill<P>, order: Order, leastE6: number): boolean {
  const [of, than] = [afterCost(order, split), afterCost(order, single)];
  if (!isBetter(order.tradeType, of, than)) return false;
  return absBigint(of - than) * E6 >= than * BigInt(leastE6);
}

/** Price impact at the far edge of the last bin that the fill reaches, in millionths. */
export function hopImpactE6<P extends GraphPool>({ hop, level }: HopFill<P>): bigint {
  const reached = hop.side[level];
  if (!reached) throw new RangeError(`level ${level} is outside the side's depth`);
  return reached.priceImpactE6;
}

/** The largest impact among a route's pools, in millionths. */
export function routeImpactE6<P extends GraphPool>({ fills }: RouteFill<P>): bigint {
  return fills.map(hopImpactE6).reduce(maxBigint);
}
