import { type Factory, factory } from 'ponder';
import type { AbiEvent, Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';

/** Ponder looks for new blocks this often per block time, so that a block waits little before it is seen. */
const POLLS_PER_BLOCK = 4;
/** Ponder takes no shorter interval. */
const MIN_POLLING_MS = 100;
const MAX_POLLING_MS = 1_000;

/**
 * Ponder begins with 20 requests a second per URL and raises that slowly, out of regard for providers. A node on this
 * machine needs none: its URL is given this often, told apart by a query that nodes ignore.
 */
const LOOPBACK_LANES = 16;

/** Key of a chain in Ponder's configuration: stable under renaming, which would otherwise ask for a new index. */
export function chainKey(chainId: number): string {
  return `chain_${chainId}`;
}

/** Enabled deployments of a chain. */
export function enabledDeployments(chain: ChainConfig): DeploymentConfig[] {
  return chain.deployments.filter((deployment) => deployment.enabled);
}

/** Chains that have something to index. */
export function indexedChains(chains: readonly ChainConfig[]): ChainConfig[] {
  return chains.filter((chain) => enabledDeployments(chain).length > 0);
}

/** Milliseconds between two looks at a chain's head. */
export function pollingIntervalMs(blockTimeMs: number): number {
  return Math.min(MAX_POLLING_MS, Math.max(MIN_POLLING_MS, Math.floor(blockTimeMs / POLLS_PER_BLOCK)));
}

/** Ponder's `chains`, by `chainKey`. */
export function ponderChains(
  chains: readonly ChainConfig[],
): Record<string, { id: number; rpc: string[]; pollingInterval: number }> {
  return Object.fromEntries(
    chains.map((chain) => [
      chainKey(chain.chainId),
      { id: chain.chainId, rpc: chain.rpcUrls.flatMap(lanesOf), pollingInterval: pollingIntervalMs(chain.blockTimeMs) },
    ]),
  );
}

function lanesOf(rpcUrl: string): string[] {
  const url = new URL(rpcUrl);
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) return [rpcUrl];
  return Array.from({ length: LOOPBACK_LANES }, (_, lane) => {
    url.searchParams.set('lane', String(lane));
    return url.href;
  });
}

interface Source<A> {
  readonly address: A;
  readonly startBlock: number;
}

/** The addresses that deployments name for one contract, by chain; a chain without any is left out. */
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

/** The contracts that factories announce by an event, by chain: logs of no other address are taken. */
export function childSources(
  factories: Record<string, Source<Address[]>>,
  event: AbiEvent,
  parameter: string,
): Record<string, Source<Factory>> {
  return Object.fromEntries(
    Object.entries(factories).map(([chain, { address, startBlock }]) => [
      chain,
      { address: factory({ address, event, parameter }), startBlock },
    ]),
  );
}
