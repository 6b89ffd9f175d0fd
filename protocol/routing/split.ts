import { E6 } from '../fixed-point.ts';
import { type Cluster, clustersOfPaths, clustersOfTokenPaths } from './cluster.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop, HopPath, PathShare } from './hop.ts';
import type { Order } from './score.ts';
import { isBetter, type PlanFill } from './settle.ts';
import { byGivenDescending, settleWhole, spread } from './spread.ts';

export interface SplitLimits {
  readonly maxRoutes: number;
  /** The least part of the order that a route may have, in millionths. */
  readonly minLegFractionE6: number;
}

/** How many of the free spread's routes are tried as additions to the baseline. */
const SHORTLIST = 8;

/**
 * The best split found within the limits; null when no split takes the whole order.
 *
 * The order is first spread over all paths. If that is within the limits it is the answer. Else two searches compete:
 * one narrows the free spread by dropping its smallest routes, the other grows the baseline by its largest.
 *
 * @param paths legs near first
 * @param baseline a path that can take the whole order alone
 * @param tick called on each step; throws to stop the search
 */
export function findSplit<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  baseline: HopPath<P>,
  order: Order,
  limits: SplitLimits,
  tick: () => void,
): PlanFill<P> | null {
  const search = new SplitSearch(baseline, order, limits, tick);
  const free = search.spread(clustersOfTokenPaths(paths));
  if (search.isWithinLimits(free)) return settleWhole(free, order.given) ?? search.grow(free);
  return search.better(search.narrow(free), search.grow(free));
}

type Shares<P extends GraphPool> = readonly PathShare<P>[];

class SplitSearch<P extends GraphPool> {
  readonly #baseline: HopPath<P>;
  readonly #order: Order;
  readonly #limits: SplitLimits;
  readonly #tick: () => void;

  constructor(baseline: HopPath<P>, order: Order, limits: SplitLimits, tick: () => void) {
    this.#baseline = baseline;
    this.#order = order;
    this.#limits = limits;
    this.#tick = tick;
  }

  spread(clusters: readonly Cluster<P>[]): Shares<P> {
    return spread(clusters, this.#order.given, this.#tick);
  }

  isWithinLimits(shares: Shares<P>): boolean {
    const { maxRoutes, minLegFractionE6 } = this.#limits;
    const least = this.#order.given * BigInt(minLegFractionE6);
    return shares.length <= maxRoutes && shares.every(({ given }) => given * E6 >= least);
  }

  /** Drops the smallest routes and spreads the order over the rest, until the limits are kept. */
  narrow(free: Shares<P>): PlanFill<P> | null {
    for (let shares = free; shares.length > 0; ) {
      if (this.isWithinLimits(shares)) return settleWhole(shares, this.#order.given);
      const narrower = this.#withoutSmallest(shares);
      if (narrower.length >= shares.length) return null;
      shares = narrower;
    }
    return null;
  }

  /** Adds to the baseline the route that helps most, again and again. */
  grow(free: Shares<P>): PlanFill<P> | null {
    const shortlist = [...free].sort(byGivenDescending).slice(0, SHORTLIST);
    let chosen: readonly HopPath<P>[] = [this.#baseline];
    let best = this.#trySpread(chosen);
    for (let count = 1; count < this.#limits.maxRoutes; count++) {
      const start = chosen;
      for (const { path } of shortlist) {
        const paths = [...start, path];
        const plan = this.#trySpread(paths);
        if (plan && this.better(plan, best) === plan) [best, chosen] = [plan, paths];
      }
      if (chosen === start) break;
    }
    return best;
  }

  better(a: PlanFill<P> | null, b: PlanFill<P> | null): PlanFill<P> | null {
    if (!a || !b) return a ?? b;
    return isBetter(this.#order.tradeType, a.found, b.found) ? a : b;
  }

  #trySpread(paths: readonly HopPath<P>[]): PlanFill<P> | null {
    const shares = this.spread(clustersOfPaths(paths));
    return this.isWithinLimits(shares) ? settleWhole(shares, this.#order.given) : null;
  }

  #withoutSmallest(shares: Shares<P>): Shares<P> {
    const excess = shares.length - this.#limits.maxRoutes;
    const dropped = Math.max(1, Math.ceil(excess / 2));
    const kept = [...shares].sort(byGivenDescending).slice(0, -dropped);
    const paths = kept.map(({ path }) => path);
    const narrower = this.spread(clustersOfPaths(paths));
    if (settleWhole(narrower, this.#order.given)) return narrower;
    // What is left has too little depth. The baseline has enough.
    return this.spread(clustersOfPaths([...paths.slice(0, this.#limits.maxRoutes - 1), this.#baseline]));
  }
}
