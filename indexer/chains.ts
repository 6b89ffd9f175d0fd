import type { Address } from 'viem';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { completeChain, type FoundContract } from '../db/complete-chain.ts';
import type { EventLayout } from '../protocol/layout.ts';
import { eventLayout } from '../protocol/layouts/event-layouts.ts';
import { indexedChains, layoutOfFactory } from './deployments.ts';
import { required } from './schema/required.ts';

/** What `indexer/main.ts` found besides, for the modules that Ponder loads. */
const found: FoundContract[] = JSON.parse(process.env.PONDER_FOUND_CONTRACTS ?? '[]');

/** Chains of the chains file with an enabled deployment. A wrong setting makes this module throw a `ConfigError`. */
export const chains = indexedChains(loadChainsFile(readEnvironment(['CHAINS_CONFIG']).CHAINS_CONFIG).chains).map(
  (chain) => completeChain(chain, found),
);

const multicallByChain = new Map(chains.map(({ chainId, multicall3 }) => [chainId, multicall3]));

/** Address of the Multicall3 contract of a chain. */
export function multicallOf(chainId: number): Address {
  return required(multicallByChain.get(chainId) ?? null, 'Multicall3 of chain', String(chainId));
}

/** Layout of the events that the pools of a factory log. */
export function eventLayoutOf(chainId: number, factory: Address): EventLayout {
  return eventLayout(layoutOfFactory(chains, chainId, factory));
}
