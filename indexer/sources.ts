import { type Factory, factory } from 'ponder';
import type { AbiEvent, Address } from 'viem';
import type { ChainConfig } from '../config/chains-schema.ts';
import { chainKey, type Source } from './deployments.ts';
import { lanesOf } from './gateway/lanes.ts';
import { pollingIntervalMs } from './gateway/polling-interval.ts';

/** The `chains` of Ponder's configuration, by `chainKey`. Ponder reaches all of them through this process's gateway. */
export function ponderChains(
  chains: readonly ChainConfig[],
  gatewayUrl: string,
): Record<string, { id: number; rpc: string[]; ws: string; pollingInterval: number }> {
  return Object.fromEntries(
    chains.map(({ chainId, rpcUrls, blockTimeMs }) => {
      const urlOf = (lane: number) => `${gatewayUrl}/${chainId}/${lane}`;
      const rpc = lanesOf(rpcUrls).map((_, lane) => urlOf(lane));
      return [chainKey(chainId), { id: chainId, rpc, ws: urlOf(0), pollingInterval: pollingIntervalMs(blockTimeMs) }];
    }),
  );
}

/** Sources for contracts that factories announce by an event, by chain. Logs of all other addresses are ignored. */
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
