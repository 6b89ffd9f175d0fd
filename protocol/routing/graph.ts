import type { Address } from 'viem';

/** What the graph reads of a pool. Addresses are lowercase. */
export interface GraphPool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
}

type Neighbours<P extends GraphPool> = ReadonlyMap<Address, readonly P[]>;

const NO_NEIGHBOURS: Neighbours<never> = new Map();

/** Pools by the two tokens that they join, either token first, in the order in which they were added. */
export class PoolGraph<P extends GraphPool> {
  readonly #byToken = new Map<Address, Map<Address, P[]>>();
  #version = 0;

  constructor(pools: readonly P[] = []) {
    for (const pool of pools) this.add(pool);
  }

  /** Differs after each change. */
  get version(): number {
    return this.#version;
  }

  /** Pools of a token by their other token. */
  neighbours(token: Address): Neighbours<P> {
    return this.#byToken.get(token) ?? NO_NEIGHBOURS;
  }

  /** Adds a pool that is not there yet. */
  add(pool: P): void {
    this.#version += 1;
    const [token0, token1] = [pool.token0.address, pool.token1.address];
    // Both directions share the list.
    const list = this.#byToken.get(token0)?.get(token1) ?? [];
    list.push(pool);
    this.#open(token0).set(token1, list);
    this.#open(token1).set(token0, list);
  }

  remove(pool: P): void {
    const [token0, token1] = [pool.token0.address, pool.token1.address];
    const list = this.#byToken.get(token0)?.get(token1);
    const place = list?.indexOf(pool) ?? -1;
    if (!list || place < 0) return;
    this.#version += 1;
    list.splice(place, 1);
    if (list.length > 0) return;
    this.#close(token0, token1);
    this.#close(token1, token0);
  }

  #open(token: Address): Map<Address, P[]> {
    const neighbours = this.#byToken.get(token) ?? new Map<Address, P[]>();
    this.#byToken.set(token, neighbours);
    return neighbours;
  }

  #close(token: Address, other: Address): void {
    const neighbours = this.#byToken.get(token);
    neighbours?.delete(other);
    if (neighbours?.size === 0) this.#byToken.delete(token);
  }
}

/**
 * All paths between two tokens, direct or via one intermediate token: any pool of a leg goes with any pool of the
 * other. A pool has two different tokens, so it is in one leg only.
 */
export interface TokenPath<L> {
  readonly legs: readonly [readonly L[]] | readonly [readonly L[], readonly L[]];
}

/** Replaces each leg of a path. */
export function mapLegs<A, B>(path: TokenPath<A>, map: (leg: readonly A[]) => readonly B[]): TokenPath<B> {
  const [first, second] = path.legs;
  return { legs: second ? [map(first), map(second)] : [map(first)] };
}

/**
 * The direct path, if there is one, then one via each token that both ends have a pool with. Legs are in trade order.
 */
export function* tokenPaths<P extends GraphPool>(
  graph: PoolGraph<P>,
  tokenIn: Address,
  tokenOut: Address,
): Generator<TokenPath<P>> {
  const [fromIn, fromOut] = [graph.neighbours(tokenIn), graph.neighbours(tokenOut)];
  const direct = fromIn.get(tokenOut);
  if (direct) yield { legs: [direct] };
  // Walks the shorter list: anyone can join a token to thousands of others.
  const isInFewer = fromIn.size <= fromOut.size;
  const [fewer, more] = isInFewer ? [fromIn, fromOut] : [fromOut, fromIn];
  for (const [via, pools] of fewer) {
    const others = more.get(via);
    if (others) yield { legs: isInFewer ? [pools, others] : [others, pools] };
  }
}
