import { type Factory, factory } from 'ponder';
import type { AbiEvent, Address } from 'viem';
import type { ChainConfig } from '../config/chains-schema.ts';
import { chainKey, type Source } from './deployments.ts';
import { pollingIntervalMs } from './heads/polling-interval.ts';

/**
 * Ponder begins with 20 requests a second per URL and raises that slowly, out of regard for providers. A node on this
 * machine needs none: its URL is given this often, told apart by a query that nodes ignore.
 */
const LOOPBACK_LANES = 16;

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
