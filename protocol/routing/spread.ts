import { allocate } from './allocate.ts';
import type { Cluster } from './cluster.ts';
import { decompose } from './decompose.ts';
import type { GraphPool } from './graph.ts';
import type { PathShare } from './hop.ts';
import { type PlanFill, settle } from './settle.ts';

/**
 * An order given out over clusters by marginal price, as routes in the order in which they are to be executed: clusters
 * with more of the order first. The shares sum to the order, less what the clusters could not take.
 *
 * @param given the order, raw units of the fixed amount
 * @param tick called on each step; throws to stop the search
 */
export function spread<P extends GraphPool>(
  clusters: readonly Cluster<P>[],
  given: bigint,
  tick: () => void,
): readonly PathShare<P>[] {
  const usage = allocate(clusters, given, tick);
  const groups = clusters.map((cluster) => decompose(cluster, usage));
  return groups
    .map((shares) => ({ shares, given: totalGiven(shares) }))
    .sort(byGivenDescending)
    .flatMap(({ shares }) => shares);
}

/** The fill of a spread that takes the whole order; null when it takes less. */
export function settleWhole<P extends GraphPool>(shares: readonly PathShare<P>[], given: bigint): PlanFill<P> | null {
  const rest = given - totalGiven(shares);
  if (rest === 0n) return settle(shares);
  // Rounding may leave a few units without a place: the largest route with room takes them.
  for (const taker of [...shares].sort(byGivenDescending)) {
    const plan = settle(shares.map((share) => (share === taker ? { ...share, given: share.given + rest } : share)));
    if (plan) return plan;
  }
  return null;
}

export function totalGiven(shares: readonly { readonly given: bigint }[]): bigint {
  return shares.reduce((total, { given }) => total + given, 0n);
}

/** Largest part of the order first. */
export function byGivenDescending(a: { readonly given: bigint }, b: { readonly given: bigint }): number {
  return a.given > b.given ? -1 : a.given < b.given ? 1 : 0;
}
