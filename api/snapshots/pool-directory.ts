import type { Address } from 'viem';
import type { StopLossMark } from '../../protocol/guards/stop-loss.ts';
import type { PoolImmutables } from '../../protocol/layout.ts';
import type { ExtensionPhase } from '../../protocol/pool-events.ts';

/** A token of a pool. Metadata that the token does not give is null, never a guess. */
export interface PoolToken {
  readonly address: Address;
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** What an extension is, by the addresses of the pool's deployment; anything else is `custom`. */
export type ExtensionKind = 'stopLoss' | 'priceVelocityGuard' | 'depositAllowlist' | 'swapAllowlist' | 'custom';

export interface PoolExtension {
  readonly address: Address;
  readonly kind: ExtensionKind;
  /** Phases it runs in; empty when it is attached but in no order. */
  readonly phases: readonly ExtensionPhase[];
}

/** What never changes about a pool that is served: listed, on an enabled release of a configured chain. */
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
  readonly stopLossMark: StopLossMark;
}

/** All served pools. A change makes a new table, so what is derived from one can be kept by identity. */
export interface PoolTable {
  /** @param address lowercase; undefined when the pool is unknown, delisted or on a disabled release */
  find(chainId: number, address: Address): ServedPool | undefined;
  ofChain(chainId: number): readonly ServedPool[];
}

/** Knows which pools are served, without a query per request. */
export interface PoolDirectory {
  /**
   * The table, at most a few seconds old while the database answers, and the last one known while it does not.
   *
   * @throws ApiError 503 when the database has not answered once
   */
  table(): Promise<PoolTable>;
}

/** A table of these pools. */
export function poolTable(pools: readonly ServedPool[]): PoolTable {
  const chainIds = [...new Set(pools.map(({ chainId }) => chainId))];
  const byChain = new Map(
    chainIds.map((chainId) => {
      const ofChain = pools.filter((pool) => pool.chainId === chainId);
      return [chainId, { ofChain, byAddress: new Map(ofChain.map((pool) => [pool.address, pool])) }];
    }),
  );
  return {
    find: (chainId, address) => byChain.get(chainId)?.byAddress.get(address),
    ofChain: (chainId) => byChain.get(chainId)?.ofChain ?? [],
  };
}

const SWAP_PHASES: readonly ExtensionPhase[] = ['beforeSwap', 'afterSwap'];

/** The extensions that can refuse a swap, in attachment order. */
export function swapGuards(pool: ServedPool): readonly PoolExtension[] {
  return pool.extensions.filter((extension) => extension.phases.some((phase) => SWAP_PHASES.includes(phase)));
}

/**
 * How a pool's guards are asked. `none`: nothing holds it back, or a swap allowlist does: that one judges the caller, and
 * its answer to us does not hold for a trader. `evaluated`: all its guards are known, so the end of each side is computed
 * and confirmed. `probed`: an unknown extension can refuse by any rule, so points of each side are tried.
 */
export type GuardPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'evaluated'; readonly stopLoss: PoolExtension | null }
  | { readonly kind: 'probed' };

const EVALUATED: readonly ExtensionKind[] = ['stopLoss', 'priceVelocityGuard'];

const plans = new WeakMap<ServedPool, GuardPlan>();

/** Made once for each pool of a table. */
export function guardPlan(pool: ServedPool): GuardPlan {
  const plan = plans.get(pool) ?? makeGuardPlan(pool);
  plans.set(pool, plan);
  return plan;
}

function makeGuardPlan(pool: ServedPool): GuardPlan {
  const guards = swapGuards(pool);
  if (guards.length === 0 || guards.some(({ kind }) => kind === 'swapAllowlist')) return { kind: 'none' };
  if (!guards.every(({ kind }) => EVALUATED.includes(kind))) return { kind: 'probed' };
  const stopLoss = guards.find(({ kind, phases }) => kind === 'stopLoss' && phases.includes('afterSwap'));
  return { kind: 'evaluated', stopLoss: stopLoss ?? null };
}
