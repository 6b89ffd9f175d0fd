import type { DepthLevel } from '../depth.ts';
import { capacity, type FillCurve, fillCurve, foundAt, levelAt, type TradeType } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';

/**
 * A pool in one direction. One object stands for it in every route of a search, so liquidity is counted by identity.
 */
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

/** An order: the amount that the trader fixes, raw units. */
export interface Order {
  readonly tradeType: TradeType;
  readonly given: bigint;
  /**
   * What a swap that ends in a level of a hop costs besides its amounts, raw units of the token that is not fixed.
   * Absent: nothing.
   */
  readonly costOf?: ((hop: Hop, level: number) => bigint) | undefined;
}

/** A route with the part of the order that it takes, raw units of the fixed amount. */
export interface PathShare<P extends GraphPool = GraphPool> {
  readonly path: HopPath<P>;
  readonly given: bigint;
}

type CurvePair = { [T in TradeType]?: FillCurve };

const curves = new WeakMap<readonly DepthLevel[], CurvePair>();

/**
 * A hop over a side of depth. Its curve is made once for each side object, so requests that share a snapshot share it.
 */
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
 * Walks the routes one after the other. Each starts where the routes before it left a shared pool.
 *
 * @returns null when a pool lacks the depth, or when a leg would give nothing for its input
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

/** Uses a hop from the point that routes before it reached. */
function fill<P extends GraphPool>(used: Map<Hop<P>, bigint>, hop: Hop<P>, given: bigint): HopFill<P> | null {
  const start = used.get(hop) ?? 0n;
  const end = start + given;
  if (end > capacity(hop.curve)) return null;
  const found = foundAt(hop.curve, end) - foundAt(hop.curve, start);
  if (found === 0n) return null;
  used.set(hop, end);
  return { hop, given, found, level: levelAt(hop.curve, end) };
}

/** What remains of a result after the cost of its swaps: less output, or more input. */
export function afterCost(
  { tradeType, costOf }: Order,
  { routes, found }: Pick<PlanFill<GraphPool>, 'routes' | 'found'>,
): bigint {
  if (!costOf) return found;
  const costs = routes.flatMap(({ fills }) => fills.map(({ hop, level }) => costOf(hop, level)));
  const cost = costs.reduce((sum, each) => sum + each, 0n);
  return tradeType === 'exact_in' ? found - cost : found + cost;
}

/** Whether a result is better than another for the same order: more output, or less input. */
export function isBetter(tradeType: TradeType, found: bigint, than: bigint): boolean {
  return tradeType === 'exact_in' ? found > than : found < than;
}
