import { choosePools, type PoolLimits } from '../../protocol/routing/choose-pools.ts';
import type { Corridor } from '../../protocol/routing/graph.ts';
import type { Prospect } from '../../protocol/routing/prospect.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import type { PoolOutlooks } from './pool-outlooks.ts';
import type { RouteRequest } from './route-request.ts';

type PoolCorridor = Corridor<ServedPool>;

/** The corridors with the pools alone that are worth a read: all of them while they are few. Legs are in trade order. */
export function boundCorridors(
  corridors: readonly PoolCorridor[],
  { tokenIn, tokenOut, tradeType, given }: Pick<RouteRequest, 'tokenIn' | 'tokenOut' | 'tradeType' | 'given'>,
  limits: PoolLimits,
  outlooks: PoolOutlooks,
): readonly PoolCorridor[] {
  if (areFew(corridors, limits, outlooks)) return corridors;
  const sell = (pool: ServedPool) => outlooks.prospect(pool, pool.token0.address === tokenIn);
  const buy = (pool: ServedPool) => outlooks.prospect(pool, pool.token1.address === tokenOut);
  const prospects = corridors.map(({ legs: [first, second] }): Corridor<Prospect<ServedPool>> => {
    if (!second) return { legs: [first.map(sell)] };
    const [sold, bought] = [first.map(sell), second.map(buy)];
    return { legs: tradeType === 'exact_in' ? [sold, bought] : [bought, sold] };
  });
  const chosen = choosePools(prospects, { tradeType, given: Number(given) }, limits);
  const kept = (pools: readonly ServedPool[]) => pools.filter((pool) => chosen.has(pool));
  return corridors.flatMap(({ legs: [first, second] }): PoolCorridor[] => {
    const sold = kept(first);
    const bought = second && kept(second);
    if (sold.length === 0 || bought?.length === 0) return [];
    return [{ legs: bought ? [sold, bought] : [sold] }];
  });
}

function areFew(corridors: readonly PoolCorridor[], limits: PoolLimits, outlooks: PoolOutlooks): boolean {
  let cost = 0;
  for (const { legs } of corridors) {
    for (const leg of legs) {
      if (leg.length > limits.maxPoolsPerPair) return false;
      for (const pool of leg) cost += outlooks.cost(pool);
      if (cost > limits.maxPoolsPerRequest) return false;
    }
  }
  return true;
}
