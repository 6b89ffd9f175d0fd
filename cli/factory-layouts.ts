import type { Address } from 'viem';
import type { ChainRpc } from '../chain/chain-rpc.ts';
import { listPools } from '../chain/discovery/read-factory.ts';
import { boundedCallsOnce, type ChainTarget } from '../chain/isolated-calls.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { type Recognition, recognise, recognitionCalls } from '../protocol/layouts/recognition.ts';

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

const NEWEST = 3;
const UNKNOWN = 'no layout that this build knows';

/** Recognises the layouts of a chain's factories by storage of their newest pools and simulated swaps in every form. */
export async function factoryLayouts(rpc: ChainRpc, chain: ChainConfig): Promise<FactoryLayout[]> {
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
  chain: ChainConfig,
  { poolFactory: factory, layout }: DeploymentConfig,
): Promise<FactoryLayout> {
  const target = { ...chain, rpc };
  const pools = await listPools(target, factory, { newest: NEWEST });
  const found = await recogniseAll(target, pools);
  const isAsConfigured = found.every((each) => each?.layout === layout);
  return { chainId: chain.chainId, factory, layout, pools: pools.length, answersLike: namesOf(found), isAsConfigured };
}

/** The layouts that pools respond like, null where none fits, and their names for humans. */
export async function layoutsOf(target: ChainTarget, pools: readonly Address[]) {
  const found = await recogniseAll(target, pools);
  return { layouts: [...new Set(found.map((each) => each?.layout ?? null))], names: namesOf(found) };
}

async function recogniseAll(target: ChainTarget, pools: readonly Address[]): Promise<(Recognition | null)[]> {
  const found: (Recognition | null)[] = [];
  for (const pool of pools) {
    const { results } = await boundedCallsOnce(target, { block: 'latest' }, recognitionCalls(pool));
    found.push(recognise(results));
  }
  return found;
}

const namesOf = (found: readonly (Recognition | null)[]): string =>
  [...new Set(found.map((each) => each?.name ?? UNKNOWN))].join(' and ') || 'nothing: it has no pools';
