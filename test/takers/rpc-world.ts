import { startedWorld } from '../harness/open-world.ts';
import { startLiveStream, startLiveWorld } from '../live/live-world.ts';
import { rpcClient } from './rpc-client.ts';

/** A market with live prices of two pools, and an API whose source of them may be passed on. */
export function startedRpcWorld() {
  const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 1, guards: ['none'] }));
  const api = startedWorld(() => {
    const { live } = world.config;
    const sources = live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
    return startLiveStream(world, { chain: { ...world.config, live: { ...live, sources } } });
  });
  /** JSON-RPC of an API of this world. */
  const rpcOf = (of: { readonly base: string }) =>
    rpcClient(() => `${new URL(of.base).origin}/rpc/${world.config.chainId}`);
  return { world, api, rpcOf, rpc: rpcOf(api), pools: () => world.market.pools.map(({ address }) => address) };
}
