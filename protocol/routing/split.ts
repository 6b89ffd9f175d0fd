import { E6 } from '../fixed-point.ts';
import { allocateOrder, byGivenDescending, type Shares, settleWhole } from './allocate.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import { afterCost, type Hop, type HopPath, isBetter, type Order, type PlanFill } from './routes.ts';

export interface SplitLimits {
  readonly maxRoutes: number;
  /** The least part of the order that a route may have, in millionths. */
  readonly minLegFractionE6: number;
}

interface SplitSearch extends SplitLimits {
  /** Called on each step; throws to stop the search. */
  readonly tick: () => void;
}

/** How many of the free allocation's routes are tried as additions to the baseline. */
const SHORTLIST = 8;

/**
 * The best split found within the limits; null when no split takes the whole order.
 *
 * The order is first allocated to all paths. If that is within the limits it is the answer. Else two searches compete:
 * one narrows the free allocation by dropping its smallest routes, the other grows the baseline by its largest. Where
 * swaps cost something besides their amounts, they always do.
 *
 * @param paths legs near first
 * @param baseline a path that can take the whole order alone
 */
export function findSplit<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  baseline: HopPath<P>,
  order: Order,
  { maxRoutes, minLegFractionE6, tick }: SplitSearch,
): PlanFill<P> | null {
  const { tradeType, given } = order;
  const minGiven = given * BigInt(minLegFractionE6);
  const isWithinLimits = (shares: Shares<P>) =>
    shares.length <= maxRoutes && shares.every((share) => share.given * E6 >= minGiven);
  const allocateTo = (routes: readonly HopPath<P>[]) => allocateOrder(joinRoutes(routes), given, tick);
  const better = (a: PlanFill<P> | null, b: PlanFill<P> | null) =>
    a && b ? (isBetter(tradeType, afterCost(order, a), afterCost(order, b)) ? a : b) : (a ?? b);

  /** Drops the smallest routes and allocates the order to the others, until the limits are kept. */
  function narrow(free: Shares<P>): PlanFill<P> | null {
    for (let shares = free; shares.length > 0; ) {
      if (isWithinLimits(shares)) return settleWhole(shares, given);
      const dropped = Math.max(1, Math.ceil((shares.length - maxRoutes) / 2));
      const kept = [...shares].sort(byGivenDescending).slice(0, -dropped);
      const routes = kept.map(({ path }) => path);
      let narrower = allocateTo(routes);
      // What is left may have too little depth. The baseline has enough.
      if (!settleWhole(narrower, given)) narrower = allocateTo([...routes.slice(0, maxRoutes - 1), baseline]);
      if (narrower.length >= shares.length) return null;
      shares = narrower;
    }
    return null;
  }

  /** Adds to the baseline the route that helps most, again and again. */
  function grow(free: Shares<P>): PlanFill<P> | null {
    const shortlist = [...free].sort(byGivenDescending).slice(0, SHORTLIST);
    let chosen: readonly HopPath<P>[] = [baseline];
    let best = settleWhole(allocateTo(chosen), given);
    for (let count = 1; count < maxRoutes; count++) {
      const start = chosen;
      for (const { path } of shortlist) {
        const routes = [...start, path];
        const shares = allocateTo(routes);
        const plan = isWithinLimits(shares) ? settleWhole(shares, given) : null;
        if (plan && better(plan, best) === plan) [best, chosen] = [plan, routes];
      }
      if (chosen === start) break;
    }
    return best;
  }

  const free = allocateOrder(paths, given, tick);
  if (isWithinLimits(free) && !order.costOf) return settleWhole(free, given) ?? grow(free);
  return better(narrow(free), grow(free));
}

/** Joins routes that share a hop, directly or through others, to one token path. n routes join at most n + 1 hops. */
function joinRoutes<P extends GraphPool>(routes: readonly HopPath<P>[]): readonly TokenPath<Hop<P>>[] {
  const direct = new Set<Hop<P>>();
  let groups: readonly (readonly [near: ReadonlySet<Hop<P>>, far: ReadonlySet<Hop<P>>])[] = [];
  for (const { near, far } of routes) {
    if (!far) {
      direct.add(near);
      continue;
    }
    const touched = groups.filter((group) => group[0].has(near) || group[1].has(far));
    const joined = [
      new Set([...touched.flatMap((group) => [...group[0]]), near]),
      new Set([...touched.flatMap((group) => [...group[1]]), far]),
    ] as const;
    groups = [...groups.filter((group) => !touched.includes(group)), joined];
  }
  const pairs = groups.map((group) => ({ legs: [[...group[0]], [...group[1]]] as const }));
  return direct.size > 0 ? [{ legs: [[...direct]] }, ...pairs] : pairs;
}
