import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import { type ChainRpc, openChainRpc } from '../chain/chain-rpc.ts';
import { boundedCallsOnce } from '../chain/contract-calls.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { factoryFunctions as abi } from '../protocol/abi/factory.ts';
import { CALL_GAS_CAP } from '../protocol/bounded-calls/bounded-calls.ts';
import { recognise, recognitionCalls } from '../protocol/layouts/recognition.ts';

/** The layout that the newest pools of a factory respond like, next to the layout that the chains file says. */
export type FactoryLayout = {
  readonly chainId: number;
  readonly factory: Address;
  readonly layout: string;
  readonly pools: number;
  /** Human-readable. */
  readonly answersLike: string;
  /** False when a pool responds like another layout than the file says, or like no known layout. */
  readonly isAsConfigured: boolean;
};

const NEWEST = 3n;
const UNKNOWN = 'no layout that this build knows';

/** Recognises the layouts of a chain's factories by storage of their newest pools and simulated swaps in every form. */
export async function factoryLayouts(chain: ChainConfig, timeoutMs: number): Promise<FactoryLayout[]> {
  const rpc = openChainRpc(chain, timeoutMs);
  return Promise.all(
    chain.deployments.map((deployment) =>
      factoryLayout(rpc, chain, deployment).catch(() => ({
        chainId: chain.chainId,
        factory: deployment.poolFactory,
        layout: deployment.layout,
        pools: 0,
        answersLike: 'nothing: it does not report its pools',
        isAsConfigured: true,
      })),
    ),
  );
}

async function factoryLayout(
  rpc: ChainRpc,
  { chainId }: ChainConfig,
  { poolFactory: factory, layout }: DeploymentConfig,
): Promise<FactoryLayout> {
  const pools = await newestPools(rpc, factory);
  const names = new Set<string>();
  let isAsConfigured = true;
  for (const pool of pools) {
    const { results } = await boundedCallsOnce({ rpc, chainId }, 'latest', recognitionCalls(pool));
    const found = recognise(results);
    names.add(found?.name ?? UNKNOWN);
    if (found?.layout !== layout) isAsConfigured = false;
  }
  const answersLike = names.size === 0 ? 'nothing: it has no pools' : [...names].join(' and ');
  return { chainId, factory, layout, pools: pools.length, answersLike, isAsConfigured };
}

async function newestPools(rpc: ChainRpc, factory: Address): Promise<Address[]> {
  const ask = async (functionName: 'nextPoolIdx' | 'idxToPool', args: readonly bigint[]) => {
    const data = encodeFunctionData({ abi, functionName, args } as never);
    return rpc.call({ to: factory, data, gas: CALL_GAS_CAP, block: 'latest' }, (answer) => answer);
  };
  const next = decodeFunctionResult({ abi, functionName: 'nextPoolIdx', data: await ask('nextPoolIdx', []) });
  const pools: Address[] = [];
  for (let index = next - 1n; index > 0n && next - index <= NEWEST; index -= 1n) {
    pools.push(decodeFunctionResult({ abi, functionName: 'idxToPool', data: await ask('idxToPool', [index]) }));
  }
  return pools;
}
