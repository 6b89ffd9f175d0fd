import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, sliceHex, zeroAddress } from 'viem';
import { factoryFunctions as abi } from '../../protocol/abi/factory.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import { decodeExtsload } from '../../protocol/layouts/extsload.ts';
import { immutablesAbi, scaleCall } from '../../protocol/layouts/immutables.ts';
import { HEAD_DATA } from '../../protocol/layouts/storage.ts';
import type { ChainRpc, EthCall } from '../chain-rpc.ts';
import { isRefusal } from '../rpc-failure.ts';
import { creationBlock, makerOf } from './creation.ts';
import { discoverContracts, type FoundContract } from './discover-contracts.ts';

/** Bounds of the pools that are read. No later creator can replace the oldest pools of a factory. */
const SAMPLE = { newest: 40, oldest: 10 };
const FIRST_POOL = 1n;
/** Slot of a pool that holds its replaceable price provider, among those that `HEAD_DATA` reads. */
const PROVIDER_SLOT = 3;

/** What a chain shows of a pool factory. */
export interface FactoryFacts {
  /** The block that created it; null when the nodes do not show it. */
  readonly created: number | null;
  readonly maker: Address | null;
  /** Contracts that have the code or the events of a standard one, those that most pools use first. */
  readonly contracts: readonly (FoundContract & { readonly pools: number })[];
}

type PoolContracts = { readonly extensions: readonly Address[]; readonly provider: Address | null };

/**
 * Finds who made a factory, and the contracts that its pools use. A few hundred calls, one after the other: free nodes
 * bear that.
 *
 * @param knownBlock the block that created it, for nodes that do not show it
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function readFactory(
  rpc: ChainRpc,
  { poolFactory, layout }: { readonly poolFactory: Address; readonly layout: string },
  knownBlock?: number,
): Promise<FactoryFacts> {
  const created = await factoryCreation(rpc, poolFactory);
  const block = created ?? knownBlock;
  const maker = block === undefined ? null : await makerOf(rpc, poolFactory, BigInt(block));
  const used: PoolContracts[] = [];
  for (const pool of await listPools(rpc, poolFactory, SAMPLE)) used.push(await contractsOf(rpc, pool));
  const extensions = [...new Set(used.flatMap((each) => each.extensions))];
  const providers = [...new Set(used.flatMap(({ provider }) => provider ?? []))];
  const found = await discoverContracts(rpc, { layout, maker, extensions, providers });
  const contracts = found.map((each) => ({
    ...each,
    pools: used.filter((pool) => pool.extensions.includes(each.address)).length,
  }));
  return { created, maker, contracts: contracts.toSorted((one, other) => other.pools - one.pools) };
}

/**
 * Up to so many of the oldest pools of a factory, then of its newest, each time the newest first.
 *
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function listPools(
  rpc: ChainRpc,
  to: Address,
  { newest, oldest = 0 }: { readonly newest: number; readonly oldest?: number },
): Promise<Address[]> {
  const next = await nextPoolIndex(rpc, to, 'latest');
  if (next === null) throw new Error(`${to} has no code`);
  const below = (end: bigint, most: number) => Array.from({ length: most }, (_, index) => end - 1n - BigInt(index));
  const indexes = new Set([...below(FIRST_POOL + BigInt(oldest), oldest), ...below(next, newest)]);
  const pools: Address[] = [];
  for (const index of indexes) {
    if (index < FIRST_POOL || index >= next) continue;
    const data = encodeFunctionData({ abi, functionName: 'idxToPool', args: [index] });
    const answer = await rpc.call({ to, data, gas: CALL_GAS_CAP, block: 'latest' }, (it) => it);
    const pool = decodeFunctionResult({ abi, functionName: 'idxToPool', data: answer });
    pools.push(pool.toLowerCase() as Address);
  }
  return pools;
}

/**
 * Number of the pool that a factory creates next; null where it has no code.
 *
 * @throws Error when it does not answer as a factory does; RpcFailure when no node answers
 */
export async function nextPoolIndex(rpc: ChainRpc, to: Address, block: EthCall['block']): Promise<bigint | null> {
  const data = encodeFunctionData({ abi, functionName: 'nextPoolIdx' });
  const answer = await rpc.call({ to, data, gas: CALL_GAS_CAP, block }, (it) => it);
  return answer === '0x' ? null : decodeFunctionResult({ abi, functionName: 'nextPoolIdx', data: answer });
}

/** The first block with the factory's code; null when the nodes do not show it. */
async function factoryCreation(rpc: ChainRpc, factory: Address): Promise<number | null> {
  const { block } = await rpc.head();
  const created = await creationBlock(rpc, factory, block.number);
  if (created === null) return null;
  // A node may answer as if there had been no code in blocks whose state it does not keep.
  const next = await nextPoolIndex(rpc, factory, await rpc.blockAt(created)).catch((error) => {
    if (isRefusal(error)) return null;
    throw error;
  });
  return next === FIRST_POOL ? Number(created) : null;
}

/** Extensions of a pool and its provider, which is in its storage, or an immutable of the pool. */
async function contractsOf(rpc: ChainRpc, to: Address): Promise<PoolContracts> {
  const ask = <T>(data: Hex, decode: (answer: Hex) => T) =>
    rpc.call({ to, data, gas: CALL_GAS_CAP, block: 'latest' }, decode);
  const immutables = await ask(scaleCall, (data) =>
    decodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', data }),
  );
  const stored = await ask(HEAD_DATA, (data) => decodeExtsload(data)[PROVIDER_SLOT]);
  const named = (addresses: readonly unknown[]) =>
    addresses.map((address) => String(address).toLowerCase() as Address).filter((address) => address !== zeroAddress);
  const extensions = Object.entries(immutables).filter(([name]) => name.startsWith('extension'));
  const providers = [stored ? sliceHex(stored, 12) : zeroAddress, immutables.immutablePriceProvider];
  return {
    extensions: named(extensions.map(([, address]) => address)),
    provider: named(providers)[0] ?? null,
  };
}
