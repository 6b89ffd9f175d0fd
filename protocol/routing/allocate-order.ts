import { minBigint } from '../fixed-point.ts';
import { allocate, type Usage } from './allocate.ts';
import { capacity, foundAt, givenWithin } from './fill-curve.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop, PathShare } from './hop.ts';
import { type PlanFill, settle } from './settle.ts';

/** Routes with their parts of an order, in the order in which they are to be executed. */
export type Shares<P extends GraphPool> = readonly PathShare<P>[];

/**
 * An order given out over token paths by marginal price: those with more of it first, each direct hop for itself. The
 * shares sum to the order, less what the paths could not take.
 *
 * @param paths legs near first; a hop is in one of them
 * @param given the order, raw units of the fixed amount
 * @param tick called on each step; throws to stop the search
 */
export function allocateOrder<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  given: bigint,
  tick: () => void,
): Shares<P> {
  const usage = allocate(paths, given, tick);
  const used = (leg: readonly Hop<P>[]) => leg.filter((hop) => usage.has(hop));
  return paths
    .flatMap(({ legs: [near, far] }) =>
      far
        ? [decompose(used(near), used(far), usage)]
        : used(near).map((hop) => [{ path: { near: hop, far: null }, given: usage.get(hop) ?? 0n }]),
    )
    .map((shares) => ({ shares, given: totalGiven(shares) }))
    .sort(byGivenDescending)
    .flatMap(({ shares }) => shares);
}

/**
 * The use of two legs as routes, at most near + far - 1 of them. Near hops are emptied one after the other into far hops
 * filled one after the other (the north-west corner rule), so when the routes are executed in the order given, each hop
 * is used along its curve exactly as far as the allocation says.
 *
 * Rounding can leave a few units that no far hop has room for: they are missing in the result.
 */
function decompose<P extends GraphPool>(near: readonly Hop<P>[], far: readonly Hop<P>[], usage: Usage<P>): Shares<P> {
  // The last far hop takes what rounding left over, as far as it can.
  const rooms = far.map((hop) => ({ hop, room: hop === far.at(-1) ? capacity(hop.curve) : (usage.get(hop) ?? 0n) }));
  const shares: PathShare<P>[] = [];
  for (const hop of near) {
    const total = usage.get(hop) ?? 0n;
    let reached = 0n;
    for (const target of rooms) {
      if (reached === total) break;
      const found = foundAt(hop.curve, reached);
      const end = minBigint(total, givenWithin(hop.curve, found + target.room));
      target.room -= foundAt(hop.curve, end) - found;
      if (end > reached) shares.push({ path: { near: hop, far: target.hop }, given: end - reached });
      reached = end;
    }
  }
  return shares;
}

/** The fill of shares that take the whole order; null when they take less. */
export function settleWhole<P extends GraphPool>(shares: Shares<P>, given: bigint): PlanFill<P> | null {
  const rest = given - totalGiven(shares);
  if (rest === 0n) return settle(shares);
  // Rounding may leave a few units without a place: the largest route with room takes them.
  for (const taker of [...shares].sort(byGivenDescending)) {
    const plan = settle(shares.map((share) => (share === taker ? { ...share, given: share.given + rest } : share)));
    if (plan) return plan;
  }
  return null;
}

function totalGiven(shares: readonly { readonly given: bigint }[]): bigint {
  return shares.reduce((total, { given }) => total + given, 0n);
}

/** Largest part of the order first. */
export function byGivenDescending(a: { readonly given: bigint }, b: { readonly given: bigint }): number {
  return a.given > b.given ? -1 : a.given < b.given ? 1 : 0;
}
