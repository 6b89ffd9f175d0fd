import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, sliceHex, zeroAddress } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { creationBlock, makerOf } from '../../chain/discovery/creation.ts';
import { discoverContracts, type FoundContract } from '../../chain/discovery/discover-contracts.ts';
import { isRefusal, RpcFailure } from '../../chain/rpc-failure.ts';
import { ConfigError } from '../../config/config-error.ts';
import { factoryFunctions as abi } from '../../protocol/abi/factory.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import { decodeExtsload } from '../../protocol/layouts/extsload.ts';
import { immutablesAbi, scaleCall } from '../../protocol/layouts/immutables.ts';
import { HEAD_DATA } from '../../protocol/layouts/storage.ts';
import { layoutsOf, newestPools } from '../factory-layouts.ts';

/** Pools whose extensions and providers are looked at. */
const MAX_POOLS = 200;
const FIRST_POOL = 1n;
/** Slot of a pool that holds its replaceable price provider, among those that `HEAD_DATA` reads. */
const PROVIDER_SLOT = 3;

/** What a chain shows of a pool factory. */
export interface FactoryFacts {
  readonly poolFactory: Address;
  readonly layout: string;
  readonly fromBlock: number;
  readonly poolDeployer: Address | null;
  readonly maker: Address | null;
  /** Pools that were looked at. */
  readonly pools: number;
  /** Contracts that have the code or the events of a standard one, those that most pools use first. */
  readonly contracts: readonly (FoundContract & { readonly pools: number })[];
}

/** What the operator says of a factory, for what its chain does not show. */
export interface KnownFactory {
  readonly poolFactory: Address;
  readonly layout?: string | undefined;
  readonly fromBlock?: number | undefined;
}

type PoolContracts = { readonly extensions: readonly Address[]; readonly provider: Address | null };

/**
 * Finds what a chains file says of a factory.
 *
 * @throws ConfigError when the chain does not show its layout or its first block; RpcFailure when no node answers
 */
export async function readFactory(rpc: ChainRpc, chainId: number, known: KnownFactory): Promise<FactoryFacts> {
  const { poolFactory } = known;
  if ((await rpc.code(poolFactory, 'latest')) === '0x') throw new ConfigError(`factory ${poolFactory}: it has no code`);
  const pools = await newestPools(rpc, poolFactory, MAX_POOLS).catch((error) => {
    if (error instanceof RpcFailure && !isRefusal(error)) throw error;
    throw new ConfigError(`factory ${poolFactory}: it does not list its pools as a pool factory does`);
  });
  const layout = known.layout ?? (await layoutOf(rpc, chainId, poolFactory, pools));
  const created = await factoryCreation(rpc, poolFactory);
  const fromBlock = created ?? known.fromBlock;
  if (fromBlock === undefined)
    throw new ConfigError(
      `factory ${poolFactory}: the node does not keep the state of old blocks, which show when it was created: give --from-block, or a node that does`,
    );
  const maker = await makerOf(rpc, poolFactory, BigInt(fromBlock));
  const contracts: PoolContracts[] = [];
  for (const pool of pools) contracts.push(await contractsOf(rpc, pool));
  const extensions = [...new Set(contracts.flatMap((each) => each.extensions))];
  const providers = [...new Set(contracts.flatMap(({ provider }) => provider ?? []))];
  const found = await discoverContracts(rpc, { layout, maker, extensions, providers });
  const counted = found.map((each) => ({
    ...each,
    pools: contracts.filter((pool) => pool.extensions.includes(each.address)).length,
  }));
  return {
    poolFactory,
    layout,
    fromBlock,
    poolDeployer: await poolDeployerOf(rpc, poolFactory),
    maker,
    pools: pools.length,
    contracts: counted.toSorted((one, other) => other.pools - one.pools),
  };
}

async function layoutOf(rpc: ChainRpc, chainId: number, factory: Address, pools: readonly Address[]): Promise<string> {
  const { layouts, names } = await layoutsOf({ rpc, chainId }, pools);
  const [layout, ...others] = layouts;
  if (layout && others.length === 0) return layout;
  throw new ConfigError(
    `factory ${factory}: its newest pools answer like ${names}: its layout is unknown, give --layout`,
  );
}

/** The first block with the factory's code; null when the node does not show it. */
async function factoryCreation(rpc: ChainRpc, factory: Address): Promise<number | null> {
  const { block } = await rpc.head();
  const created = await creationBlock(rpc, factory, block.number);
  if (created === null) return null;
  // A node may answer as if there had been no code in blocks whose state it does not keep.
  const data = encodeFunctionData({ abi, functionName: 'nextPoolIdx' });
  const call = { to: factory, data, gas: CALL_GAS_CAP, block: await rpc.blockAt(created) };
  const next = await rpc.call(call, BigInt).catch((error) => {
    if (isRefusal(error)) return null;
    throw error;
  });
  return next === FIRST_POOL ? Number(created) : null;
}

async function poolDeployerOf(rpc: ChainRpc, to: Address): Promise<Address | null> {
  const data = encodeFunctionData({ abi, functionName: 'poolDeployer' });
  const decode = (answer: Hex) => decodeFunctionResult({ abi, functionName: 'poolDeployer', data: answer });
  const deployer = await rpc.call({ to, data, gas: CALL_GAS_CAP, block: 'latest' }, decode).catch(() => null);
  return deployer === zeroAddress ? null : ((deployer?.toLowerCase() as Address | undefined) ?? null);
}

/** Extensions of a pool and its provider, which is in its storage, or an immutable of the pool. */
async function contractsOf(rpc: ChainRpc, to: Address): Promise<PoolContracts> {
  const ask = <T>(data: Hex, decode: (answer: Hex) => T) =>
    rpc.call({ to, data, gas: CALL_GAS_CAP, block: 'latest' }, decode);
  const immutables = await ask(scaleCall, (data) =>
    decodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', data }),
  );
  const stored = await ask(HEAD_DATA, (data) => decodeExtsload(data)[PROVIDER_SLOT]);
  const addresses = Object.entries(immutables).filter(([name]) => name.startsWith('extension'));
  const extensions = addresses.map(([, address]) => String(address).toLowerCase() as Address);
  const provider = [stored ? sliceHex(stored, 12) : zeroAddress, immutables.immutablePriceProvider].find(
    (address) => address !== zeroAddress,
  );
  return {
    extensions: extensions.filter((address) => address !== zeroAddress),
    provider: (provider?.toLowerCase() as Address | undefined) ?? null,
  };
}
