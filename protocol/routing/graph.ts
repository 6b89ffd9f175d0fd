import type { Address } from 'viem';

/** What the graph reads of a pool. Addresses are lowercase. */
export interface GraphPool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
}

/** Pools by the other token that they join a token to, sorted by address. */
type Neighbours<P extends GraphPool> = ReadonlyMap<Address, readonly P[]>;

/** Pools by the two tokens that they join, either token first. Pools come and go one by one. */
export class PoolGraph<P extends GraphPool> {
  readonly #byToken = new Map<Address, Map<Address, P[]>>();

  constructor(pools: readonly P[] = []) {
    for (const pool of pools) this.add(pool);
  }

  neighbours(token: Address): Neighbours<P> | undefined {
    return this.#byToken.get(token);
  }

  has(pool: P): boolean {
    const list = this.#byToken.get(pool.token0.address)?.get(pool.token1.address);
    return list !== undefined && list[placeOf(list, pool)] === pool;
  }

  /** Adds a pool that is not there yet. */
  add(pool: P): void {
    const [token0, token1] = [pool.token0.address, pool.token1.address];
    const known = this.#byToken.get(token0)?.get(token1);
    if (known) {
      known.splice(placeOf(known, pool), 0, pool);
      return;
    }
    // Both directions share the list.
    const list = [pool];
    this.#open(token0).set(token1, list);
    this.#open(token1).set(token0, list);
  }

  remove(pool: P): void {
    const [token0, token1] = [pool.token0.address, pool.token1.address];
    const list = this.#byToken.get(token0)?.get(token1);
    const place = list?.indexOf(pool) ?? -1;
    if (!list || place < 0) return;
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

/** Index of the first pool whose address is not lower. */
function placeOf<P extends GraphPool>(sorted: readonly P[], { address }: P): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as P).address < address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * All paths between two tokens, direct or over one intermediate token: any pool of a leg goes with any pool of the
 * other. Legs are in trade order.
 */
export interface Corridor<L> {
  readonly legs: readonly [readonly L[]] | readonly [readonly L[], readonly L[]];
}

/**
 * The direct corridor, if any, then one for each token that both ends have a pool with. A pool has two different tokens,
 * so it cannot be in both legs of a corridor.
 */
export function* corridors<P extends GraphPool>(
  graph: PoolGraph<P>,
  tokenIn: Address,
  tokenOut: Address,
): Generator<Corridor<P>> {
  const [fromIn, fromOut] = [graph.neighbours(tokenIn), graph.neighbours(tokenOut)];
  const direct = fromIn?.get(tokenOut);
  if (direct) yield { legs: [direct] };
  for (const via of middleTokens(graph, tokenIn, tokenOut)) {
    const [first, second] = [fromIn?.get(via), fromOut?.get(via)];
    if (first && second) yield { legs: [first, second] };
  }
}

/**
 * Tokens that both ends have a pool with.
 *
 * @param looked most tokens that are looked at
 */
export function* middleTokens<P extends GraphPool>(
  graph: PoolGraph<P>,
  tokenIn: Address,
  tokenOut: Address,
  looked = Number.POSITIVE_INFINITY,
): Generator<Address> {
  const [fewer, more] = ends(graph, tokenIn, tokenOut);
  let left = looked;
  for (const via of fewer?.keys() ?? []) {
    if (left-- <= 0) return;
    if (more?.has(via)) yield via;
  }
}

/** Tokens that are looked at to find all middle tokens. */
export function countLooked<P extends GraphPool>(graph: PoolGraph<P>, tokenIn: Address, tokenOut: Address): number {
  return ends(graph, tokenIn, tokenOut)[0]?.size ?? 0;
}

/** The neighbours of both ends, the fewer first: a stranger can join any token to thousands of its own. */
function ends<P extends GraphPool>(graph: PoolGraph<P>, tokenIn: Address, tokenOut: Address) {
  const [fromIn, fromOut] = [graph.neighbours(tokenIn), graph.neighbours(tokenOut)];
  return (fromIn?.size ?? 0) <= (fromOut?.size ?? 0) ? ([fromIn, fromOut] as const) : ([fromOut, fromIn] as const);
}
