import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi, parseAbi } from 'viem';
import { CALL_GAS_CAP, type CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import { packGroups } from '../protocol/pack-groups.ts';
import type { BlockRef, ChainRpc, CodeOverrides } from './chain-rpc.ts';
import { checkChain, RpcFailure } from './rpc-failure.ts';

/** One call of a batch; `gas` is what it may need, the base of chunking. */
export interface ContractCall {
  readonly target: Address;
  readonly data: Hex;
  readonly gas: number;
}

/** Estimates stay below the cap by this much. */
export const CHUNK_GAS = 44_000_000;
/** Hex characters of calldata in one chunk: some providers refuse larger bodies. */
const CHUNK_HEX_CHARS = 1_500_000;

const chainIdAbi = parseAbi(['function getChainId() view returns (uint256)']);
const CHAIN_ID_CALL = encodeFunctionData({ abi: chainIdAbi });

export interface MulticallTarget {
  readonly rpc: ChainRpc;
  readonly chainId: number;
  readonly multicall3: Address;
}

/**
 * Runs calls at one block through Multicall3, in as few `eth_call`s as gas and calldata allow, all at once. Each
 * `eth_call` also asks for the chain id, so that a node of another chain is found out by the very answer it gives.
 * Multicall3 gives each call all the gas there is: only for contracts which are known not to burn it.
 *
 * @param groups calls that stay together in one chunk, such as those of one pool; within a chunk the first calls of all
 *   groups come before the second ones, and so on
 * @returns results in the shape of `groups`
 * @throws RpcFailure when a chunk failed on every node
 */
export async function multicall(
  target: MulticallTarget,
  block: BlockRef,
  groups: readonly (readonly ContractCall[])[],
  overrides?: CodeOverrides,
  signal?: AbortSignal,
): Promise<CallResult[][]> {
  const chunks = packCalls(groups);
  const results = await Promise.all(chunks.map((chunk) => runChunk(target, block, chunk, overrides, signal)));
  return results.flat();
}

/** Chunks of groups for one `eth_call` each. */
export function packCalls(groups: readonly (readonly ContractCall[])[]): (readonly ContractCall[])[][] {
  return packGroups(groups, [
    { of: ({ gas }) => gas, most: CHUNK_GAS },
    { of: ({ data }) => data.length, most: CHUNK_HEX_CHARS },
  ]);
}

async function runChunk(
  { rpc, chainId, multicall3 }: MulticallTarget,
  block: BlockRef,
  chunk: readonly (readonly ContractCall[])[],
  overrides: CodeOverrides | undefined,
  signal: AbortSignal | undefined,
): Promise<CallResult[][]> {
  const calls = chunk
    .flatMap((group, owner) => group.map((call, rank) => ({ ...call, owner, rank })))
    .sort((a, b) => a.rank - b.rank);
  const data = encodeCalls([{ target: multicall3, data: CHAIN_ID_CALL }, ...calls]);
  const call = { to: multicall3, data, gas: CALL_GAS_CAP, block, ...(overrides && { overrides }) };
  const results = await rpc.call(call, (result) => checkedResults(result, chainId, calls.length), signal);
  const byGroup = chunk.map((): CallResult[] => []);
  for (const [index, result] of results.entries()) byGroup[calls[index]?.owner ?? 0]?.push(result);
  return byGroup;
}

function checkedResults(result: Hex, chainId: number, count: number): CallResult[] {
  const [chain, ...results] = decodeResults(result);
  if (!chain?.success || results.length !== count) throw new RpcFailure('garbage', 'a multicall gave too few results');
  checkChain(chainId, BigInt(chain.data));
  return results;
}

function encodeCalls(calls: readonly { readonly target: Address; readonly data: Hex }[]): Hex {
  const args = calls.map(({ target, data }) => ({ target, allowFailure: true, callData: data }));
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] });
}

function decodeResults(result: Hex): CallResult[] {
  const decoded = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: result });
  return decoded.map(({ success, returnData }) => ({ success, data: returnData }));
}
