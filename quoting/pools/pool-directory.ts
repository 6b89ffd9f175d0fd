import type { Address } from 'viem';
import { AppError } from '../../config/app-error.ts';
import type { ExtensionRole } from '../../protocol/layouts/contract-roles.ts';
import { type ExtensionPhase, SWAP_PHASES } from '../../protocol/pool-events.ts';
import type { PoolImmutables } from '../../protocol/pool-state.ts';
import { PoolGraph } from '../../protocol/routing/graph.ts';
import type { StopLossMark } from '../../protocol/stop-loss/stop-loss.ts';

/** A token of a pool. Metadata that the token does not give are null, never guessed. */
export interface PoolToken {
  readonly address: Address;
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** What an extension is according to the addresses of the pool's deployment. Any other contract is `custom`. */
export type ExtensionKind = ExtensionRole | 'custom';

export interface PoolExtension {
  readonly address: Address;
  readonly kind: ExtensionKind;
  /** Phases in which it runs; empty when it is attached but no phase lists it. */
  readonly phases: readonly ExtensionPhase[];
}

/** What never changes about a served pool. Served pools are listed, on an enabled release of a configured chain. */
export interface ServedPool {
  readonly chainId: number;
  /** Lowercase, as every address here. */
  readonly address: Address;
  readonly contractVersion: string;
  readonly layout: string;
  readonly token0: PoolToken;
  readonly token1: PoolToken;
  /** `<token0Symbol>/<token1Symbol>`, the address in place of a missing symbol. */
  readonly pair: string;
  readonly immutables: PoolImmutables;
  /** The provider that can never be changed; null when the pool's storage names a replaceable one. */
  readonly immutableProvider: Address | null;
  readonly extensions: readonly PoolExtension[];
  /** How the stop loss of the pool's deployment values bins. */
  readonly stopLossMark: StopLossMark | null;
  /** What swaps may be sent to instead of the pool; null: nothing is known. */
  readonly router: Address | null;
}

/** The served pools are not known, because the database has not answered yet. */
export class PoolsUnknownError extends AppError {
  readonly code = 'pools_unknown';
  readonly retryable: boolean;

  /** @param retryable whether the database may answer later */
  constructor(retryable: boolean, cause: unknown) {
    super('the served pools are not known', { cause });
    this.retryable = retryable;
  }
}

/** Knows which pools are served, without a query per request. */
export interface PoolDirectory {
  /**
   * Gives the one table, which is kept up to date. It is at most a few seconds old while the database answers, and
   * stays as it was last known while the database does not.
   *
   * @throws PoolsUnknownError
   */
  table(): Promise<PoolTable>;
}

/** The extensions that can reject a swap, in attachment order. */
export function swapGuards(pool: ServedPool): readonly PoolExtension[] {
  return pool.extensions.filter((extension) => extension.phases.some((phase) => SWAP_PHASES.includes(phase)));
}

/**
 * How snapshots find out what a pool's guards let trade.
 *
 * `none`: not at all. The pool has no guards, or has a swap allowlist, whose answer to us does not hold for a trader.
 * `evaluated`: all guards are known, so the end of each side is computed and confirmed.
 * `probed`: an unknown extension can reject by any rule, so points of each side are tried.
 */
export type GuardPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'evaluated'; readonly stopLoss: PoolExtension | null }
  | { readonly kind: 'probed' };

/** Guards whose rejections snapshots take into account. Other guards may reject a trader whatever a snapshot says. */
const EVALUATED: readonly ExtensionKind[] = ['stopLoss', 'priceVelocityGuard'];

/** Decides how snapshots find out what a pool's guards let trade. */
export function guardPlan(pool: ServedPool): GuardPlan {
  const guards = swapGuards(pool);
  if (guards.length === 0 || guards.some(({ kind }) => kind === 'swapAllowlist')) return { kind: 'none' };
  if (!guards.every(({ kind }) => EVALUATED.includes(kind))) return { kind: 'probed' };
  const stopLoss = guards.find(({ kind, phases }) => kind === 'stopLoss' && phases.includes('afterSwap'));
  return { kind: 'evaluated', stopLoss: stopLoss ?? null };
}

/** Why a pool is no longer served: an operator delisted it, or it is not in the index any more. */
export type RemovalReason = 'delisted' | 'not_served';

/** Takes a pool and why it was removed; null: it was added. A replaced pool is first removed as `not_served`. */
export type PoolListener = (pool: ServedPool, removal: RemovalReason | null) => void;

interface ChainPools {
  readonly byAddress: Map<Address, ServedPool>;
  readonly graph: PoolGraph<ServedPool>;
}

/** All served pools, by chain. It changes pool by pool; a pool that did not change stays the same object. */
export class PoolTable {
  readonly #chains = new Map<number, ChainPools>();
  readonly #listeners = new Set<PoolListener>();

  constructor(pools: readonly ServedPool[] = []) {
    for (const pool of pools) this.put(pool);
  }

  /** @returns undefined when the pool is unknown, delisted or on a disabled release @param address lowercase */
  find(chainId: number, address: Address): ServedPool | undefined {
    return this.#chains.get(chainId)?.byAddress.get(address);
  }

  /** The chain's pools that routes may use. Health and pause can change at each block, so snapshots check them. */
  graph(chainId: number): PoolGraph<ServedPool> {
    return this.#chain(chainId).graph;
  }

  /** Adds a pool, which replaces any pool at its address. */
  put(pool: ServedPool): void {
    const { byAddress, graph } = this.#chain(pool.chainId);
    const known = byAddress.get(pool.address);
    if (known) this.remove(known, 'not_served');
    byAddress.set(pool.address, pool);
    if (isOpenToAnyone(pool)) graph.add(pool);
    for (const listener of this.#listeners) listener(pool, null);
  }

  /** Removes a pool, unless another one is in its place. */
  remove(pool: ServedPool, reason: RemovalReason): void {
    const { byAddress, graph } = this.#chain(pool.chainId);
    if (byAddress.get(pool.address) !== pool) return;
    graph.remove(pool);
    byAddress.delete(pool.address);
    for (const listener of this.#listeners) listener(pool, reason);
  }

  /** Calls the listener for each pool that is put or removed. It must not throw. */
  onChange(listener: PoolListener): void {
    this.#listeners.add(listener);
  }

  /** Every pool of a chain. */
  ofChain(chainId: number): readonly ServedPool[] {
    return [...this.#chain(chainId).byAddress.values()];
  }

  #chain(chainId: number): ChainPools {
    const chain = this.#chains.get(chainId) ?? { byAddress: new Map(), graph: new PoolGraph() };
    this.#chains.set(chainId, chain);
    return chain;
  }
}

/** Whether a snapshot holds for every trader. A swap allowlist or an unknown extension may judge by the trader. */
export function isOpenToAnyone(pool: ServedPool): boolean {
  return swapGuards(pool).every(({ kind }) => EVALUATED.includes(kind));
}
