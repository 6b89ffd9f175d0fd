import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { V0_POOL_FACTORY } from '../protocol/abi/v0.ts';

/** Key of a chain in Ponder's configuration. It does not contain the name, so a renamed chain needs no new index. */
export function chainKey(chainId: number): string {
  return `chain_${chainId}`;
}

/** Enabled deployments of a chain. */
export function enabledDeployments(chain: ChainConfig): DeploymentConfig[] {
  return chain.deployments.filter((deployment) => deployment.enabled);
}

/**
 * The layout of the pools that a factory of an enabled deployment creates.
 *
 * @throws Error for any other factory
 */
export function layoutOfFactory(chains: readonly ChainConfig[], chainId: number, factory: Address): string {
  const deployment = chains
    .filter((chain) => chain.chainId === chainId)
    .flatMap(enabledDeployments)
    .find(({ poolFactory }) => poolFactory === factory);
  if (deployment === undefined) throw new Error(`no enabled deployment of chain ${chainId} has the factory ${factory}`);
  return deployment.layout;
}

/** Chains that have an enabled deployment. */
export function indexedChains(chains: readonly ChainConfig[]): ChainConfig[] {
  return chains.filter((chain) => enabledDeployments(chain).length > 0);
}

/** Addresses that are followed on a chain, and the first block that is followed. */
export interface Source<A> {
  readonly address: A;
  readonly startBlock: number;
}

/** Collects the addresses that deployments name for one contract, by `chainKey`. Chains without one are left out. */
export function contractSources(
  chains: readonly ChainConfig[],
  addressesOf: (deployment: DeploymentConfig) => readonly (Address | undefined)[],
): Record<string, Source<Address[]>> {
  const entries = chains.flatMap((chain) => {
    const named = enabledDeployments(chain)
      .map((deployment) => ({
        fromBlock: deployment.fromBlock,
        addresses: addressesOf(deployment).filter((address) => address !== undefined),
      }))
      .filter(({ addresses }) => addresses.length > 0);
    if (named.length === 0) return [];
    const address = [...new Set(named.flatMap(({ addresses }) => addresses))];
    const startBlock = Math.min(...named.map(({ fromBlock }) => fromBlock));
    return [[chainKey(chain.chainId), { address, startBlock }] as const];
  });
  return Object.fromEntries(entries);
}

/** The factory of the oldest generation, by `chainKey`. Chains that do not follow it are left out. */
export function v0Sources(chains: readonly ChainConfig[]): Record<string, Source<Address[]>> {
  return Object.fromEntries(
    chains.flatMap(({ chainId, v0FromBlock: startBlock }) =>
      startBlock === undefined ? [] : [[chainKey(chainId), { address: [V0_POOL_FACTORY], startBlock }] as const],
    ),
  );
}
