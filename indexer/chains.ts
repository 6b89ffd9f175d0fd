import type { Address } from 'viem';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import type { EventLayout } from '../protocol/layout.ts';
import { eventLayout } from '../protocol/layouts/event-layouts.ts';
import { indexedChains, layoutOfFactory } from './deployments.ts';
import { required } from './handlers/required.ts';

/** Chains of the chains file with an enabled deployment. Loading fails with a `ConfigError` on a wrong setting. */
export const chains = indexedChains(loadChainsFile(readEnvironment(['CHAINS_CONFIG']).CHAINS_CONFIG).chains);

const multicallByChain = new Map(chains.map(({ chainId, multicall3 }) => [chainId, multicall3]));

/** Address of a chain's Multicall3. */
export function multicallOf(chainId: number): Address {
  return required(multicallByChain.get(chainId) ?? null, 'Multicall3 of chain', String(chainId));
}

/** What the pools of a factory log. */
export function eventLayoutOf(chainId: number, factory: Address): EventLayout {
  return eventLayout(layoutOfFactory(chains, chainId, factory));
}
