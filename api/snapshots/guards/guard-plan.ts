import type { ExtensionKind, PoolExtension, ServedPool } from '../pool-directory.ts';
import { swapGuards } from '../pool-directory.ts';

/**
 * How a pool's guards are asked. `none`: nothing holds it back, or a swap allowlist does: that one judges the caller, and
 * what it says to us says nothing about a trader. `evaluated`: all its guards are known, so the end of each side is computed
 * and confirmed. `probed`: an unknown extension can refuse by any rule, so points of each side are tried.
 */
export type GuardPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'evaluated'; readonly stopLoss: PoolExtension | null }
  | { readonly kind: 'probed' };

const EVALUATED: readonly ExtensionKind[] = ['stopLoss', 'priceVelocityGuard'];

export function guardPlan(pool: ServedPool): GuardPlan {
  const guards = swapGuards(pool);
  if (guards.length === 0 || guards.some(({ kind }) => kind === 'swapAllowlist')) return { kind: 'none' };
  if (!guards.every(({ kind }) => EVALUATED.includes(kind))) return { kind: 'probed' };
  const stopLoss = guards.find(({ kind, phases }) => kind === 'stopLoss' && phases.includes('afterSwap'));
  return { kind: 'evaluated', stopLoss: stopLoss ?? null };
}
