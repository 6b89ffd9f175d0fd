import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import {
  EXTENSION_ROLES,
  type ExtensionRole,
  PROVIDER_KINDS,
  type ProviderKind,
} from '../protocol/layouts/contract-roles.ts';
import { eventLayout } from '../protocol/layouts/event-layouts.ts';

/** A contract around a pool factory that the chains file does not name, and that the account of the factory made. */
export interface FoundContract {
  readonly chainId: number;
  readonly factory: Address;
  readonly role: ExtensionRole | ProviderKind;
  readonly address: Address;
  readonly maker: Address;
}

const ALL_ROLES = [...EXTENSION_ROLES, ...PROVIDER_KINDS];

/**
 * What the indexer is to look for around the pools of a deployment, since its chain's entry does not name it. A list of
 * provider factories is complete, and holds for all deployments of its chain.
 */
export function missingRoles({ deployments }: ChainConfig, deployment: DeploymentConfig): FoundContract['role'][] {
  const { enabled, layout, discover } = deployment;
  if (!enabled || !(discover ?? eventLayout(layout).discovers)) return [];
  const listsProviders = deployments.some(
    (each) => each.anchoredProviderFactories.length > 0 || each.providerFactories.length > 0,
  );
  return ALL_ROLES.filter((role) => (isExtensionRole(role) ? deployment[role] === undefined : !listsProviders));
}

export const isExtensionRole = (role: string): role is ExtensionRole => EXTENSION_ROLES.some((each) => each === role);

/** A chain with what was found. What its entry names stays as it is. */
export function completeChain(chain: ChainConfig, found: readonly FoundContract[]): ChainConfig {
  const deployments = chain.deployments.map((deployment): DeploymentConfig => {
    const missing = missingRoles(chain, deployment);
    const ofFactory = (it: FoundContract) => it.chainId === chain.chainId && it.factory === deployment.poolFactory;
    const own = found.filter((it) => ofFactory(it) && missing.includes(it.role));
    const of = (role: FoundContract['role']) => own.filter((it) => it.role === role).map(({ address }) => address);
    const extensions = own.filter(({ role }) => isExtensionRole(role)).map(({ role, address }) => [role, address]);
    const regular = [
      ...of('regular').map((address) => ({ address, l2: false })),
      ...of('regular_l2').map((address) => ({ address, l2: true })),
    ];
    return {
      ...deployment,
      ...Object.fromEntries(extensions),
      anchoredProviderFactories: [...deployment.anchoredProviderFactories, ...of('anchored')],
      providerFactories: [...deployment.providerFactories, ...regular],
    };
  });
  return { ...chain, deployments };
}
