import { capacity, foundAt, levelAt, type TradeType } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';
import type { Hop, HopPath, PathShare } from './hop.ts';

/** What a route does to one of its pools; amounts in raw units. */
export interface HopFill<P extends GraphPool> {
  readonly hop: Hop<P>;
  readonly given: bigint;
  readonly found: bigint;
  /** Index of the depth level that the fill ends in. */
  readonly level: number;
}

/** A route that fills its part of the order. `fills` has the near hop first; the far hop is given what near found. */
export interface RouteFill<P extends GraphPool> {
  readonly path: HopPath<P>;
  readonly fills: readonly [HopFill<P>] | readonly [HopFill<P>, HopFill<P>];
  readonly given: bigint;
  readonly found: bigint;
}

/** Routes executed one after the other; the sums are those of the routes. */
export interface PlanFill<P extends GraphPool> {
  readonly routes: readonly RouteFill<P>[];
  readonly given: bigint;
  readonly found: bigint;
}

/**
 * Walks the routes one after the other, each on from where those before it left a shared pool.
 *
 * @returns null when a pool has not that much depth, or when a leg would give nothing for its input
 */
export function settle<P extends GraphPool>(shares: readonly PathShare<P>[]): PlanFill<P> | null {
  const used = new Map<Hop<P>, bigint>();
  const routes: RouteFill<P>[] = [];
  for (const { path, given } of shares) {
    const near = fill(used, path.near, given);
    if (!near) return null;
    const far = path.far && fill(used, path.far, near.found);
    if (path.far && !far) return null;
    routes.push({ path, fills: far ? [near, far] : [near], given, found: (far ?? near).found });
  }
  const sum = (amount: (route: RouteFill<P>) => bigint) => routes.reduce((total, route) => total + amount(route), 0n);
  return { routes, given: sum((route) => route.given), found: sum((route) => route.found) };
}

/** Uses a hop on from where it stands. */
function fill<P extends GraphPool>(used: Map<Hop<P>, bigint>, hop: Hop<P>, given: bigint): HopFill<P> | null {
  const start = used.get(hop) ?? 0n;
  const end = start + given;
  if (end > capacity(hop.curve)) return null;
  const found = foundAt(hop.curve, end) - foundAt(hop.curve, start);
  if (found === 0n) return null;
  used.set(hop, end);
  return { hop, given, found, level: levelAt(hop.curve, end) };
}

/** Whether a result is better than another for the same order: more output, or less input. */
export function isBetter(tradeType: TradeType, found: bigint, than: bigint): boolean {
  return tradeType === 'exact_in' ? found > than : found < than;
}
