import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import type { OperatedChain, OperatedWorld } from './operated-world.ts';

/** Of a busy machine. */
export const EVENTUALLY = { timeout: 60_000, interval: 200 };

type Readiness = {
  readonly ready: boolean;
  readonly failures: Readonly<Record<string, string>>;
  readonly warnings: Readonly<Record<string, string>>;
  readonly chains: readonly ChainLag[];
};

/** What tests ask the API and the chains of a world. */
export function operatedApi(world: OperatedWorld) {
  const readiness = async (): Promise<Readiness & { readonly status: number }> => {
    const response = await fetch(`${world.processes.api.url}/ready`);
    return { status: response.status, ...((await response.json()) as Readiness) };
  };
  return {
    readiness,
    lagOf: async ({ chainId }: OperatedChain): Promise<ChainLag | undefined> =>
      (await readiness()).chains.find((chain) => chain.chainId === chainId),
    api: (apiKey?: string) =>
      createPoolTradingDataClient(world.processes.api.url, apiKey === undefined ? {} : { apiKey }),
  };
}

export function healthyPool({ scenario }: OperatedChain): string {
  const [pool] = scenario.pools;
  if (pool === undefined) throw new Error('the scenario has no pool');
  return pool.address;
}

export const mine = ({ client }: OperatedChain, blocks: number) =>
  client.request({ method: 'anvil_mine', params: [blocks] } as never);
