import type { Address } from 'viem';
import { type FactoryFacts, listPools, readFactory } from '../../chain/discovery/read-factory.ts';
import type { MulticallTarget } from '../../chain/multicall.ts';
import { isRefusal, RpcFailure } from '../../chain/rpc-failure.ts';
import { ConfigError } from '../../config/config-error.ts';
import { layoutsOf } from '../factory-layouts.ts';

/** Pools that show the layout. */
const LAYOUT_POOLS = 3;

/** What a chains file says of a factory, as its chain shows it. */
export interface FoundDeployment extends FactoryFacts {
  readonly poolFactory: Address;
  readonly layout: string;
  readonly fromBlock: number;
}

/** What the operator says of a factory, for what its chain does not show. */
export interface KnownFactory {
  readonly poolFactory: Address;
  readonly layout?: string | undefined;
  readonly fromBlock?: number | undefined;
}

/**
 * Finds what a chains file says of a factory.
 *
 * @throws ConfigError when the chain does not show its layout or its first block, or lacks Multicall3;
 * RpcFailure when no node answers
 */
export async function findDeployment(target: MulticallTarget, known: KnownFactory): Promise<FoundDeployment> {
  const { poolFactory } = known;
  const place = `factory ${poolFactory}`;
  const hasCode = async (address: Address) => (await target.rpc.code(address, { block: 'latest' })) !== '0x';
  if (!(await hasCode(poolFactory))) throw new ConfigError(`${place}: it has no code`);
  if (!(await hasCode(target.multicall3)))
    throw new ConfigError(`multicall3: ${target.multicall3} has no code: name another one in the file`);
  const pools = await listPools(target, poolFactory, { newest: LAYOUT_POOLS }).catch((error) => {
    if (error instanceof RpcFailure && !isRefusal(error)) throw error;
    throw new ConfigError(`${place}: it does not list its pools as a pool factory does`);
  });
  const layout = known.layout ?? (await layoutOf(target, poolFactory, pools));
  const facts = await readFactory(target, { poolFactory, layout }, known.fromBlock);
  const fromBlock = facts.created ?? known.fromBlock;
  if (fromBlock === undefined)
    throw new ConfigError(
      `${place}: the node does not keep the state of old blocks, which shows when it was created: give --from-block, or a node that does`,
    );
  return { ...facts, poolFactory, layout, fromBlock };
}

async function layoutOf(target: MulticallTarget, factory: Address, pools: readonly Address[]): Promise<string> {
  const { layouts, names } = await layoutsOf(target, pools);
  const [layout, ...others] = layouts;
  if (layout && others.length === 0) return layout;
  throw new ConfigError(
    `factory ${factory}: its newest pools answer like ${names}: its layout is unknown, give --layout`,
  );
}
