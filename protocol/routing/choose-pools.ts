import type { TradeType } from './fill-curve.ts';
import type { Corridor, GraphPool } from './graph.ts';
import { follow, type Outlook, type Prospect, worthOf } from './prospect.ts';

export interface PoolLimits {
  /** Pools of a pair in one direction. */
  readonly maxPoolsPerPair: number;
  /** Sum of the costs of all pools. */
  readonly maxPoolsPerRequest: number;
  /** Tokens that are looked at in search of middle tokens: of each ranking, and of the graph. */
  readonly maxTokensSearched: number;
}

/** An order as prospects rank by it: raw units as a number. */
export interface RoughOrder {
  readonly tradeType: TradeType;
  readonly given: number;
}

/** Pools are compared by what they do with the whole order and with this part of it: by depth and by price. */
const SMALL_PART = 1 / 16;
/** A claim of a better tier counts as so many powers of ten more. */
const TIER_POWER = 40;

/**
 * The pools that are worth a read for an order: of each leg the best, and of these as many as a request may read.
 *
 * Half of a leg's places are for pools whose depth was seen, by what they give for the whole order and for a small part of
 * it; the others are for pools of which only claims are known, by the same and by tier. So no claim displaces what is
 * known to be executable, and a claim that turns out empty loses its place.
 *
 * @param corridors legs near first
 */
export function choosePools<P extends GraphPool>(
  corridors: readonly Corridor<Prospect<P>>[],
  order: RoughOrder,
  limits: PoolLimits,
): ReadonlySet<P> {
  const narrowed = corridors.map(({ legs }) => narrow(legs, order, limits.maxPoolsPerPair));
  const all = narrowed.flatMap(({ near, far }) => [...near, ...(far ?? [])]);
  const cost = all.reduce((sum, prospect) => sum + prospect.cost, 0);
  const chosen = cost > limits.maxPoolsPerRequest ? withinBudget(narrowed, order, limits.maxPoolsPerRequest) : all;
  return new Set(chosen.map(({ pool }) => pool));
}

type Leg<P extends GraphPool> = readonly Prospect<P>[];

interface Narrowed<P extends GraphPool> {
  readonly near: Leg<P>;
  readonly far: Leg<P> | null;
}

function narrow<P extends GraphPool>(
  [near, far]: Corridor<Prospect<P>>['legs'],
  order: RoughOrder,
  most: number,
): Narrowed<P> {
  const nearest = bestOfLeg(near, order, most);
  if (!far || far.length <= most) return { near: nearest, far: far ?? null };
  const given = passedOn(bestOutlook(nearest, order), order);
  return { near: nearest, far: bestOfLeg(far, { ...order, given }, most) };
}

/** What a far leg is given when a pool of the near one takes all of the order. */
function passedOn(near: Outlook | null, { tradeType, given }: RoughOrder): number {
  const { taken, found } = follow([near], tradeType, given);
  return taken > 0 ? (found * given) / taken : 0;
}

function bestOutlook<P extends GraphPool>(leg: Leg<P>, order: RoughOrder): Outlook | null {
  const [only] = leg.length === 1 ? leg : best(leg, worthAt(order), 1);
  return only?.outlook ?? null;
}

/** What a pool alone is worth for an order, behind and before others when it is a hop of a path. */
function worthAt<P extends GraphPool>(
  { tradeType, given }: RoughOrder,
  { before = [], behind = [] }: { before?: readonly (Outlook | null)[]; behind?: readonly (Outlook | null)[] } = {},
): (prospect: Prospect<P>) => number {
  return ({ outlook }) => worthOf(follow([...before, outlook, ...behind], tradeType, given), tradeType);
}

function bestOfLeg<P extends GraphPool>(leg: Leg<P>, order: RoughOrder, most: number): Leg<P> {
  if (leg.length <= most) return leg;
  const whole = worthAt<P>(order);
  const small = worthAt<P>({ ...order, given: order.given * SMALL_PART });
  const byTier = (prospect: Prospect<P>) => whole(prospect) * 10 ** (TIER_POWER * prospect.tierRank);
  const seen = leg.filter(({ isSeen }) => isSeen);
  const claimed = leg.filter(({ isSeen, outlook }) => !isSeen && outlook !== null);
  const known = byTurns(
    [best(seen, whole, most), best(claimed, whole, most), best(seen, small, most), best(claimed, byTier, most)],
    most,
  );
  return [...known, ...leg.filter(isUnknown).slice(0, most - known.length)];
}

/**
 * By turns the best for the whole order and for a small part of it, over paths that were seen and over all, as far as their
 * costs go; then those of which nothing is known, the first of each leg first.
 */
function withinBudget<P extends GraphPool>(legs: readonly Narrowed<P>[], order: RoughOrder, budget: number): Leg<P> {
  const seen = legs.flatMap(seenOnly);
  const ranked = [order.given, order.given * SMALL_PART].flatMap((given) =>
    [seen, legs].map((among) => bestHops(among, { ...order, given }, budget)),
  );
  const unknown = legs.flatMap(({ near, far }) => [near, far ?? []].map((leg) => leg.filter(isUnknown)));
  const chosen: Prospect<P>[] = [];
  let left = budget;
  for (const prospect of [...byTurns(ranked, 4 * budget), ...byTurns(unknown, budget)]) {
    if (prospect.cost > left) continue;
    left -= prospect.cost;
    chosen.push(prospect);
  }
  return chosen;
}

function seenOnly<P extends GraphPool>({ near, far }: Narrowed<P>): Narrowed<P>[] {
  const [seenNear, seenFar] = [near, far].map((leg) => leg?.filter(({ isSeen }) => isSeen));
  return seenNear?.length === 0 || seenFar?.length === 0 ? [] : [{ near: seenNear ?? [], far: seenFar ?? null }];
}

function bestHops<P extends GraphPool>(legs: readonly Narrowed<P>[], order: RoughOrder, most: number): Leg<P> {
  const paths = legs.map((corridor) => bestPath(corridor, order));
  // Beyond so many corridors no hop can find a place.
  const worths = new Map(best(paths, ({ worth }) => worth, most).flatMap((path) => hopWorths(path)));
  return best([...worths.keys()], (prospect) => worths.get(prospect) ?? 0, most);
}

const isUnknown = ({ outlook }: Prospect) => outlook === null;

/** The best hop of each leg of a corridor, and what they are worth together. */
interface BestPath<P extends GraphPool> {
  readonly corridor: Narrowed<P>;
  readonly order: RoughOrder;
  readonly near: Outlook | null;
  readonly far: Outlook | null;
  readonly worth: number;
}

function bestPath<P extends GraphPool>(corridor: Narrowed<P>, order: RoughOrder): BestPath<P> {
  const { tradeType, given } = order;
  const near = bestOutlook(corridor.near, order);
  const far = corridor.far && bestOutlook(corridor.far, { tradeType, given: passedOn(near, order) });
  const path = corridor.far ? [near, far] : [near];
  return { corridor, order, near, far, worth: worthOf(follow(path, tradeType, given), tradeType) };
}

/** Each hop with the worth of a path through it and the best hop of the other leg. */
function hopWorths<P extends GraphPool>({ corridor, order, near, far }: BestPath<P>): [Prospect<P>, number][] {
  const nearWorth = worthAt<P>(order, { behind: corridor.far ? [far] : [] });
  const farWorth = worthAt<P>(order, { before: [near] });
  return [
    ...corridor.near.map((hop): [Prospect<P>, number] => [hop, nearWorth(hop)]),
    ...(corridor.far ?? []).map((hop): [Prospect<P>, number] => [hop, farWorth(hop)]),
  ];
}

/** The items that are worth most and anything at all, the best first. One pass: there may be thousands. */
function best<T>(items: readonly T[], worth: (item: T) => number, most: number): readonly T[] {
  const top: { readonly item: T; readonly worth: number }[] = [];
  for (const item of items) {
    const own = worth(item);
    if (own <= (top.length === most ? (top.at(-1)?.worth ?? 0) : 0)) continue;
    let place = top.length;
    while (place > 0 && (top[place - 1]?.worth ?? 0) < own) place -= 1;
    top.splice(place, 0, { item, worth: own });
    if (top.length > most) top.pop();
  }
  return top.map(({ item }) => item);
}

/** Takes one of each list after the other, each item once, until there are `most`. */
function byTurns<T>(lists: readonly (readonly T[])[], most: number): readonly T[] {
  const taken = new Set<T>();
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  for (let index = 0; index < longest; index++) {
    for (const list of lists) {
      const item = list[index];
      if (item !== undefined && taken.size < most) taken.add(item);
    }
  }
  return [...taken];
}
