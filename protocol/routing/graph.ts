import type { Address } from 'viem';

/** What the graph reads of a pool. Addresses are lowercase. */
export interface GraphPool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
}

/** Pools by the two tokens that they join, either token first. */
export interface PoolGraph<P extends GraphPool> {
  readonly pools: ReadonlyMap<Address, ReadonlyMap<Address, readonly P[]>>;
}

/**
 * All paths between two tokens, direct or over one intermediate token: any pool of a leg goes with any pool of the
 * other. Legs are in trade order.
 */
export interface Corridor<L> {
  readonly legs: readonly [readonly L[]] | readonly [readonly L[], readonly L[]];
}

export function buildGraph<P extends GraphPool>(pools: readonly P[]): PoolGraph<P> {
  const byToken = new Map<Address, Map<Address, P[]>>();
  const add = (from: Address, to: Address, pool: P) => {
    const neighbours = byToken.get(from) ?? new Map<Address, P[]>();
    byToken.set(from, neighbours);
    const joined = neighbours.get(to) ?? [];
    neighbours.set(to, joined);
    joined.push(pool);
  };
  for (const pool of pools) {
    add(pool.token0.address, pool.token1.address, pool);
    add(pool.token1.address, pool.token0.address, pool);
  }
  return { pools: byToken };
}

/**
 * The direct corridor, if any, then one for each token that both ends have a pool with. A pool has two different tokens,
 * so it cannot be in both legs of a corridor.
 */
export function corridors<P extends GraphPool>(
  graph: PoolGraph<P>,
  tokenIn: Address,
  tokenOut: Address,
): readonly Corridor<P>[] {
  const fromIn = graph.pools.get(tokenIn);
  const fromOut = graph.pools.get(tokenOut);
  if (!fromIn || !fromOut) return [];
  const found: Corridor<P>[] = [];
  const direct = fromIn.get(tokenOut);
  if (direct) found.push({ legs: [direct] });
  for (const [via, first] of fromIn) {
    const second = fromOut.get(via);
    if (second) found.push({ legs: [first, second] });
  }
  return found;
}
