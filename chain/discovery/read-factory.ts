import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, sliceHex, zeroAddress } from 'viem';
import { factoryFunctions as abi } from '../../protocol/abi/factory.ts';
import { decodeExtsload } from '../../protocol/layouts/extsload.ts';
import { immutablesAbi, scaleCall } from '../../protocol/layouts/immutables.ts';
import { HEAD_DATA } from '../../protocol/layouts/storage.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import type { EthCall } from '../eth-call.ts';
import { type MulticallTarget, multicall } from '../multicall.ts';
import { findCreation, makerOf } from './creation.ts';
import { type Discovery, discoverContracts, type FoundContract } from './discover-contracts.ts';

/** Bounds of the pools that are read. No later creator can replace the oldest pools of a factory. */
const SAMPLE = { newest: 50, oldest: 50 };
const FIRST_POOL = 1n;
/** Slot of a pool that holds its replaceable price provider, among those that `HEAD_DATA` reads. */
const PROVIDER_SLOT = 3;
/** More gas than a call to a factory or pool takes. */
const CALL_GAS = 200_000;

/** What a chain shows of a pool factory. */
export interface FactoryFacts extends Discovery {
  /** The block that created it; null when the nodes do not show it. */
  readonly created: number | null;
  readonly maker: Address | null;
  /** Contracts that have the code or the events of a standard one, those that most pools use first. */
  readonly contracts: readonly (FoundContract & { readonly pools: number })[];
}

type PoolContracts = { readonly extensions: readonly Address[]; readonly provider: Address | null };

/**
 * Finds who made a factory, and the contracts that its pools use. As a rule about ten calls, and those of the
 * extensions that pools name; 26 more without `knownBlock`,
 * and several hundred where nodes refuse to search all blocks.
 *
 * @param knownBlock the block that created it, where that is known; another one does no harm
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function readFactory(
  target: MulticallTarget,
  { poolFactory, layout }: { readonly poolFactory: Address; readonly layout: string },
  knownBlock?: number,
): Promise<FactoryFacts> {
  const { rpc } = target;
  const makerAt = (block: bigint) => makerOf(rpc, poolFactory, block);
  const knownMaker = knownBlock === undefined ? null : await makerAt(BigInt(knownBlock));
  const creation =
    knownBlock !== undefined && knownMaker
      ? { block: BigInt(knownBlock), shown: knownMaker }
      : await findCreation(rpc, poolFactory, (await rpc.head()).block.number, makerAt);
  const maker = creation?.shown ?? null;
  const used = await contractsOf(target, await listPools(target, poolFactory, SAMPLE));
  const extensions = [...new Set(used.flatMap((each) => each.extensions))];
  const providers = [...new Set(used.flatMap(({ provider }) => provider ?? []))];
  const found = await discoverContracts(rpc, { layout, maker, extensions, providers });
  const contracts = found.contracts.map((each) => ({
    ...each,
    pools: used.filter((pool) => pool.extensions.includes(each.address)).length,
  }));
  return {
    ...found,
    created: creation && Number(creation.block),
    maker,
    contracts: contracts.toSorted((one, other) => other.pools - one.pools),
  };
}

/**
 * Up to so many of the oldest pools of a factory, the oldest first, then of its newest, the newest first.
 *
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function listPools(
  target: MulticallTarget,
  factory: Address,
  { newest, oldest = 0 }: { readonly newest: number; readonly oldest?: number },
): Promise<Address[]> {
  const next = await nextPoolIndex(target.rpc, factory, 'latest');
  if (next === null) throw new Error(`${factory} has no code`);
  const first = Array.from({ length: oldest }, (_, index) => FIRST_POOL + BigInt(index));
  const last = Array.from({ length: newest }, (_, index) => next - 1n - BigInt(index));
  const indexes = new Set([...first, ...last]);
  const calls = [...indexes]
    .filter((index) => index >= FIRST_POOL && index < next)
    .map((index) => encodeFunctionData({ abi, functionName: 'idxToPool', args: [index] }))
    .map((data) => [{ target: factory, data, gas: CALL_GAS }]);
  const results = await multicall(target, { block: 'latest' }, calls);
  return results
    .flat()
    .map(({ data }) => decodeFunctionResult({ abi, functionName: 'idxToPool', data }))
    .map((pool) => pool.toLowerCase() as Address);
}

/**
 * Number of the pool that a factory creates next; null where it has no code.
 *
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function nextPoolIndex(rpc: ChainRpc, to: Address, block: EthCall['block']): Promise<bigint | null> {
  const data = encodeFunctionData({ abi, functionName: 'nextPoolIdx' });
  const answer = await rpc.call({ to, data, block }, (it) => it);
  return answer === '0x' ? null : decodeFunctionResult({ abi, functionName: 'nextPoolIdx', data: answer });
}

/** Extensions of pools, and their providers, which are in their storage, or immutables. */
async function contractsOf(target: MulticallTarget, pools: readonly Address[]): Promise<PoolContracts[]> {
  const groups = pools.map((pool) => [scaleCall, HEAD_DATA].map((data) => ({ target: pool, data, gas: CALL_GAS })));
  const results = await multicall(target, { block: 'latest' }, groups);
  return results.map(([immutables, head]) => namedContracts(immutables?.data ?? '0x', head?.data ?? '0x'));
}

/** @throws Error when these are not the answers of a pool */
function namedContracts(data: Hex, head: Hex): PoolContracts {
  const immutables = decodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', data });
  const stored = decodeExtsload(head)[PROVIDER_SLOT];
  const named = (addresses: readonly unknown[]) =>
    addresses.map((address) => String(address).toLowerCase() as Address).filter((address) => address !== zeroAddress);
  const extensions = Object.entries(immutables).filter(([name]) => name.startsWith('extension'));
  const providers = [stored ? sliceHex(stored, 12) : zeroAddress, immutables.immutablePriceProvider];
  return {
    extensions: named(extensions.map(([, address]) => address)),
    provider: named(providers)[0] ?? null,
  };
}
