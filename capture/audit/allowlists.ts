import type { Address } from 'viem';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { RestrictedAction } from './chain-facts.ts';

/** Standard allowlists of enabled deployments, and what each restricts. */
export const allowlistsOf = (deployments: readonly DeploymentConfig[]): ReadonlyMap<Address, RestrictedAction> =>
  new Map(
    deployments
      .filter(({ enabled }) => enabled)
      .flatMap(({ depositAllowlist, swapAllowlist }) => [
        [depositAllowlist, 'deposit' as const] as const,
        [swapAllowlist, 'swap' as const] as const,
      ])
      .flatMap(([address, action]) => (address === undefined ? [] : [[address, action] as const])),
  );
