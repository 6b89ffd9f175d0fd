import { minBigint } from '../fixed-point.ts';
import { capacity, foundAt, givenWithin } from './fill-curve.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import { type Hop, type PathShare, type PlanFill, settle } from './routes.ts';

/** Routes with their parts of an order, in the order in which they are to be executed. */
export type Shares<P extends GraphPool> = readonly PathShare<P>[];

/**
 * Allocates an order to token paths by marginal price. The shares of the path with the largest part come first, where
 * each direct hop counts as a path. The shares sum to the order, less what the paths could not take.
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
 * Turns the use of two legs into routes, at most near + far - 1 of them. Near hops are emptied one after the other into
 * far hops, which are filled one after the other (the north-west corner rule). Executed in this order, the routes use
 * each hop along its curve exactly as far as the allocation says.
 *
 * Rounding can leave a few units for which no far hop has room: they are missing in the result.
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

/** How far each hop of a search is used, given amount in raw units; unused hops are absent. */
type Usage<P extends GraphPool> = ReadonlyMap<Hop<P>, bigint>;

/**
 * Allocates an order by marginal price. Each step uses the token path whose best near and best far hop together have
 * the best price at the point reached, until a price step of either ends. What no path can take stays unused.
 *
 * @param paths legs near first; a hop is in one of them
 * @param given the order, raw units of the fixed amount
 * @param tick called on each step; throws to stop the search
 */
function allocate<P extends GraphPool>(paths: readonly TokenPath<Hop<P>>[], given: bigint, tick: () => void): Usage<P> {
  const flows = paths.map((path) => new PathFlow(path));
  let remaining = given;
  while (remaining > 0n) {
    tick();
    const best = bestOf(flows);
    if (!best) break;
    remaining -= best.take(remaining);
  }
  return new Map(flows.flatMap((flow) => flow.usage()));
}

function bestOf<P extends GraphPool>(flows: readonly PathFlow<P>[]): PathFlow<P> | null {
  let best: PathFlow<P> | null = null;
  for (const flow of flows) if (flow.rate > (best?.rate ?? 0n)) best = flow;
  return best;
}

/** How far a token path is used along the curves of its hops. */
class PathFlow<P extends GraphPool> {
  readonly #legs: readonly (readonly HopCursor<P>[])[];
  /** Of each leg the hop with the best price at the point reached. */
  #near: HopCursor<P> | undefined;
  #far: HopCursor<P> | undefined;
  /** Output per input at the point reached, Q256; 0 when the path is used up. */
  rate = 0n;

  constructor({ legs }: TokenPath<Hop<P>>) {
    this.#legs = legs.map((leg) => leg.map((hop) => new HopCursor(hop)));
    this.#choose();
  }

  /** Uses the best hops up to the end of a price step of either, but at most `most`. Returns what it took. */
  take(most: bigint): bigint {
    const [near, far] = [this.#near, this.#far];
    if (!near) return 0n;
    const nearEnd = minBigint(near.stepEnd, near.given + most);
    const farEnd = far ? near.givenFor(far.room) : nearEnd;
    const taken = near.advance(minBigint(nearEnd, farEnd));
    // What is left of a far step may be too little for one unit of the near hop: the step counts as ended.
    far?.advance(far.given + taken.found, farEnd < nearEnd);
    this.#choose();
    return taken.given;
  }

  usage(): [Hop<P>, bigint][] {
    const used = this.#legs.flat().filter(({ given }) => given > 0n);
    return used.map(({ hop, given }) => [hop, given]);
  }

  #choose(): void {
    [this.#near, this.#far] = this.#legs.map((leg) => leg.reduce((best, hop) => (hop.rate > best.rate ? hop : best)));
    this.rate = (this.#near?.rate ?? 0n) * (this.#legs.length > 1 ? (this.#far?.rate ?? 0n) : 1n << 128n);
  }
}

/** How far a hop is used, and in which price step that is. */
class HopCursor<P extends GraphPool> {
  readonly hop: Hop<P>;
  given = 0n;
  #found = 0n;
  #index = 0;

  constructor(hop: Hop<P>) {
    this.hop = hop;
  }

  /** Output per input of the current step, Q128; 0 behind the last one. */
  get rate(): bigint {
    return this.hop.curve.steps[this.#index]?.rateX128 ?? 0n;
  }

  get stepEnd(): bigint {
    return this.hop.curve.steps[this.#index]?.end ?? this.given;
  }

  /** What is left of the current step, given amount. */
  get room(): bigint {
    return this.stepEnd - this.given;
  }

  /** The point up to which this hop may be used so that it leads to no more than `found` beyond the point reached. */
  givenFor(found: bigint): bigint {
    return givenWithin(this.hop.curve, this.#found + found);
  }

  /** Moves to a point ahead in the current step; enters the next step at the end of this one, or if `endsStep`. */
  advance(to: bigint, endsStep = false): { given: bigint; found: bigint } {
    const found = foundAt(this.hop.curve, to);
    const moved = { given: to - this.given, found: found - this.#found };
    if (endsStep || to >= this.stepEnd) this.#index += 1;
    this.given = to;
    this.#found = found;
    return moved;
  }
}
