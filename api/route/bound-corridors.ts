import { candidateCorridors } from '../../protocol/routing/candidates.ts';
import { choosePools, type PoolLimits } from '../../protocol/routing/choose-pools.ts';
import { type Corridor, corridors, countLooked, type PoolGraph } from '../../protocol/routing/graph.ts';
import type { Prospect } from '../../protocol/routing/prospect.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import type { ChainOutlooks } from './pool-outlooks.ts';
import type { RouteRequest } from './route-request.ts';

type PoolCorridor = Corridor<ServedPool>;
type PairOrder = Pick<RouteRequest, 'tokenIn' | 'tokenOut' | 'tradeType' | 'given'>;

/**
 * The paths between two tokens with the pools alone that are worth a read: all of them while they are few. Legs are in
 * trade order.
 *
 * @returns null when there is no path
 */
export function boundCorridors(
  graph: PoolGraph<ServedPool>,
  order: PairOrder,
  limits: PoolLimits,
  outlooks: ChainOutlooks,
): readonly PoolCorridor[] | null {
  const few = fewCorridors(graph, order, limits, outlooks);
  if (few) return few.length > 0 ? few : null;
  const { index, isUnknown } = outlooks;
  return chooseFrom(
    candidateCorridors({ graph, index, isUnknown }, order.tokenIn, order.tokenOut, limits),
    order,
    limits,
    outlooks,
  );
}

/** All paths; null when they have more pools than a request may read. */
function fewCorridors(
  graph: PoolGraph<ServedPool>,
  { tokenIn, tokenOut }: PairOrder,
  limits: PoolLimits,
  outlooks: ChainOutlooks,
): readonly PoolCorridor[] | null {
  if (countLooked(graph, tokenIn, tokenOut) > limits.maxTokensSearched) return null;
  const found: PoolCorridor[] = [];
  let cost = 0;
  for (const corridor of corridors(graph, tokenIn, tokenOut)) {
    for (const leg of corridor.legs) {
      if (leg.length > limits.maxPoolsPerPair) return null;
      for (const pool of leg) cost += outlooks.cost(pool);
      if (cost > limits.maxPoolsPerRequest) return null;
    }
    found.push(corridor);
  }
  return found;
}

function chooseFrom(
  candidates: readonly PoolCorridor[],
  { tokenIn, tokenOut, tradeType, given }: PairOrder,
  limits: PoolLimits,
  outlooks: ChainOutlooks,
): readonly PoolCorridor[] {
  const sell = (pool: ServedPool) => outlooks.prospect(pool, pool.token0.address === tokenIn);
  const buy = (pool: ServedPool) => outlooks.prospect(pool, pool.token1.address === tokenOut);
  const prospects = candidates.map(({ legs: [first, second] }): Corridor<Prospect<ServedPool>> => {
    if (!second) return { legs: [first.map(sell)] };
    const [sold, bought] = [first.map(sell), second.map(buy)];
    return { legs: tradeType === 'exact_in' ? [sold, bought] : [bought, sold] };
  });
  const chosen = choosePools(prospects, { tradeType, given: Number(given) }, limits);
  const kept = (pools: readonly ServedPool[]) => pools.filter((pool) => chosen.has(pool));
  return candidates.flatMap(({ legs: [first, second] }): PoolCorridor[] => {
    const sold = kept(first);
    const bought = second && kept(second);
    if (sold.length === 0 || bought?.length === 0) return [];
    return [{ legs: bought ? [sold, bought] : [sold] }];
  });
}
