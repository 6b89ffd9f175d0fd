import { alternate } from '../alternate.ts';
import { type GraphPool, mapLegs, type TokenPath } from './graph.ts';
import { type DepthEstimate, type PoolCandidate, pathValue, type RoughOrder, walkEstimates } from './pool-candidate.ts';

/** Observed pools are also compared for this part of an order, so that small cheap pools count besides deep ones. */
const SMALL_PART = 1 / 16;
/** The part of a request's reads that the pools of one pair in one direction may take. */
const PAIR_PART = 1 / 4;

type Leg<P extends GraphPool> = readonly PoolCandidate<P>[];

/** A candidate, its leg, and what the best path through it gives for an order. */
interface RankedHop<P extends GraphPool> {
  readonly candidate: PoolCandidate<P>;
  readonly leg: Leg<P>;
  readonly value: number;
}

/**
 * Chooses the candidates that a request reads: all of them while they are few, else the first of four rankings,
 * alternately. Observed pools rank (1) by what they give for the order and (2) for a small part of it, reported pools
 * (3) by what they would give for it and (4) by tier. Each kind may take half of a leg's places, and those that the
 * other leaves: no report displaces what is known to be executable, and a report that fails loses its place.
 *
 * @param paths legs near first
 * @param maxReads limit of the sum of costs
 */
export function choosePools<P extends GraphPool>(
  paths: readonly TokenPath<PoolCandidate<P>>[],
  order: RoughOrder,
  maxReads: number,
): readonly TokenPath<PoolCandidate<P>>[] {
  const maxPerLeg = Math.ceil(maxReads * PAIR_PART);
  const legs = paths.flatMap((path): readonly Leg<P>[] => path.legs);
  const all = legs.flat();
  const cost = all.reduce((sum, candidate) => sum + candidate.cost, 0);
  if (cost <= maxReads && legs.every(({ length }) => length <= maxPerLeg)) return paths;

  const smallOrder = { ...order, amount: order.amount * SMALL_PART };
  const reported = rankHops(paths, order, isKnown).filter(isReported);
  const known = alternate([
    rankHops(paths, order, isObserved).sort(byValue),
    reported.toSorted(byValue),
    rankHops(paths, smallOrder, isObserved).sort(byValue),
    reported.toSorted(byTier),
  ]);
  const unknown = alternate(
    legs.map((leg) => leg.filter((it) => !isKnown(it)).map((candidate) => ({ candidate, leg }))),
  );
  const taken = new Set<PoolCandidate<P>>();
  const places = new Map(legs.map((leg) => [leg, { observed: 0, others: 0 }]));
  let left = maxReads;
  const take = ({ candidate, leg }: Pick<RankedHop<P>, 'candidate' | 'leg'>, maxOfKind: number) => {
    const counts = places.get(leg);
    const kind = candidate.isObserved ? 'observed' : 'others';
    if (!counts || candidate.cost > left || taken.has(candidate)) return;
    if (counts[kind] >= maxOfKind || counts.observed + counts.others >= maxPerLeg) return;
    taken.add(candidate);
    left -= candidate.cost;
    counts[kind] += 1;
  };
  for (const hop of known) take(hop, Math.ceil(maxPerLeg / 2));
  for (const hop of [...known, ...unknown]) take(hop, maxPerLeg);
  return paths
    .map((path) => mapLegs(path, (leg) => leg.filter((candidate) => taken.has(candidate))))
    .filter(({ legs }) => legs.every(({ length }) => length > 0));
}

const isObserved = (candidate: PoolCandidate) => candidate.isObserved;
const isKnown = ({ estimate }: PoolCandidate) => estimate !== null;
const isReported = ({ candidate }: { readonly candidate: PoolCandidate }) => !candidate.isObserved;

type Ranked = Pick<RankedHop<GraphPool>, 'candidate' | 'value'>;
const byValue = (a: Ranked, b: Ranked) => b.value - a.value;
const byTier = (a: Ranked, b: Ranked) => b.candidate.tierRank - a.candidate.tierRank || byValue(a, b);

/** Values the candidates of a kind that give anything: each by its path through the best other leg of that kind. */
function rankHops<P extends GraphPool>(
  paths: readonly TokenPath<PoolCandidate<P>>[],
  order: RoughOrder,
  isOfKind: (candidate: PoolCandidate<P>) => boolean,
): RankedHop<P>[] {
  return paths.flatMap(({ legs: [nearLeg, farLeg] }) => {
    const near = nearLeg.filter(isOfKind);
    const far = farLeg?.filter(isOfKind);
    const bestNear = bestEstimate(near, order);
    const bestFar = far && bestEstimate(far, { ...order, amount: passedOn(bestNear, order) });
    const behind = far ? [bestFar ?? null] : [];
    // Alternately, so that of equal hops neither leg comes first.
    const hops = alternate([
      near.map((candidate) => ({ candidate, leg: nearLeg, value: pathValue([candidate.estimate, ...behind], order) })),
      (far ?? []).map((candidate) => ({
        candidate,
        leg: farLeg ?? [],
        value: pathValue([bestNear, candidate.estimate], order),
      })),
    ]);
    return hops.filter(({ value }) => value > 0);
  });
}

function bestEstimate<P extends GraphPool>(leg: Leg<P>, order: RoughOrder): DepthEstimate | null {
  let best: { readonly estimate: DepthEstimate | null; readonly value: number } = { estimate: null, value: 0 };
  for (const { estimate } of leg) {
    const value = pathValue([estimate], order);
    if (value > best.value) best = { estimate, value };
  }
  return best.estimate;
}

/** What the far leg is given when the near one takes the whole order. */
function passedOn(near: DepthEstimate | null, order: RoughOrder): number {
  const { specified, computed } = walkEstimates([near], order);
  return specified > 0 ? (computed * order.amount) / specified : 0;
}
