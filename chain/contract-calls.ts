import { type Address, encodeFunctionData, type Hex, numberToHex, parseAbi, sliceHex } from 'viem';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALL_GAS_CAP,
  CALLER,
  type CallResult,
  decodeBoundedCalls,
  encodeBoundedCalls,
} from '../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../protocol/bounded-calls/run-bounded-calls.ts';
import { packGroups } from '../protocol/pack-groups.ts';
import type { BlockRef, ChainRpc, CodeOverrides } from './chain-rpc.ts';
import { decodeAggregate3, encodeAggregate3 } from './multicall3.ts';
import type { PendingState } from './pending-state.ts';
import { checkChain, isRefusal, RpcFailure } from './rpc-failure.ts';

/** The nodes of a chain, and its id. Every answer names its chain, so that an answer from another chain is rejected. */
export interface ChainTarget {
  readonly rpc: ChainRpc;
  readonly chainId: number;
}

export interface MulticallTarget extends ChainTarget {
  readonly multicall3: Address;
}

/** One call of a multicall. `gas` is what it may need, by which calls are packed into chunks. */
export interface ContractCall {
  readonly target: Address;
  readonly data: Hex;
  readonly gas: number;
}

/** Most estimated gas of a chunk, below the cap of an `eth_call`. */
export const CHUNK_GAS = 44_000_000;
/** Hex characters of calldata in one chunk: some providers refuse larger bodies. */
const CHUNK_HEX_CHARS = 1_500_000;

const chainIdAbi = parseAbi(['function getChainId() view returns (uint256)']);
const CHAIN_ID_CALL = encodeFunctionData({ abi: chainIdAbi });

/** Code that returns 42, put at an address without code: an answer of 42 proves that the node applied the overrides. */
const CANARY: Address = '0xca0a21ca0a21ca0a21ca0a21ca0a21ca0a21ca0a';
const CANARY_CODE: Hex = '0x602a5f5260205ff3';
const CANARY_ANSWER = numberToHex(42, { size: 32 });
const CANARY_CALL: ContractCall = { target: CANARY, data: '0x', gas: 5_000 };
const BOUNDED_CANARY_CALL: BoundedCall = {
  target: CANARY,
  data: '0x',
  likelyGas: 5_000,
  gasLimit: 5_000,
  keptBytes: 32,
};

/** Code that returns time and number of the block, put at an address without code for calls at a block being built. */
const CLOCK: Address = '0xc10cc10cc10cc10cc10cc10cc10cc10cc10cc10c';
const CLOCK_CODE: Hex = '0x434260401b175f5260205ff3';
const CLOCK_CALL: BoundedCall = { ...BOUNDED_CANARY_CALL, target: CLOCK };

/**
 * Runs calls at one block through Multicall3, in as few `eth_call`s as gas and calldata allow, all at once. Multicall3
 * gives all gas to each call, so this is only for contracts that are known not to burn it.
 *
 * @param groups calls that stay together in one chunk, such as those of one pool; within a chunk the first calls of all
 *   groups come before the second ones, and so on
 * @returns results in the shape of `groups`
 * @throws RpcFailure when a chunk failed on every node
 */
export async function multicall(
  target: MulticallTarget,
  block: BlockRef | 'latest',
  groups: readonly (readonly ContractCall[])[],
  signal?: AbortSignal,
  overrides?: CodeOverrides,
): Promise<CallResult[][]> {
  const chunks = packCalls(groups);
  const results = await Promise.all(chunks.map((chunk) => runChunk(target, block, chunk, overrides, signal)));
  return results.flat();
}

/**
 * {@link multicall} with other code at some addresses.
 *
 * @returns the results, and whether the node put the code there: some nodes ignore overrides
 */
export async function multicallWithCode(
  target: MulticallTarget,
  block: BlockRef,
  groups: readonly (readonly ContractCall[])[],
  code: CodeOverrides,
  signal?: AbortSignal,
): Promise<{ readonly isApplied: boolean; readonly results: CallResult[][] }> {
  const overrides = new Map([...code, [CANARY, CANARY_CODE]]);
  const [canary, ...results] = await multicall(target, block, [[CANARY_CALL], ...groups], signal, overrides);
  return { isApplied: canary?.[0]?.data === CANARY_ANSWER, results };
}

/**
 * Runs calls to untrusted contracts at one block, isolated from each other: see `runBoundedCalls`.
 *
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export function boundedCalls(
  target: ChainTarget,
  block: BlockRef | 'latest',
  groups: readonly (readonly BoundedCall[])[],
  signal?: AbortSignal,
): Promise<(GroupAnswer | null)[]> {
  return runBoundedCalls(groups, (calls) => boundedCallsOnce(target, block, calls, signal));
}

/**
 * {@link boundedCalls} with other code at some addresses.
 *
 * @returns the answers, and whether the node put the code there; where it did not, the calls ran with the code as it is
 */
export async function boundedCallsWithCode(
  target: ChainTarget,
  block: BlockRef,
  groups: readonly (readonly BoundedCall[])[],
  code: CodeOverrides,
  signal?: AbortSignal,
): Promise<{ readonly isApplied: boolean; readonly answers: (GroupAnswer | null)[] }> {
  if (code.size === 0) return { isApplied: true, answers: await boundedCalls(target, block, groups, signal) };
  const overrides = new Map([...code, [CANARY, CANARY_CODE]]);
  let isApplied = true;
  const send = async (calls: readonly BoundedCall[]): Promise<BoundedAnswer> => {
    const all = [BOUNDED_CANARY_CALL, ...calls];
    const { results, ...read } = await boundedCallsOnce(target, block, all, signal, CALL_GAS_CAP, overrides);
    if (results[0]?.data !== CANARY_ANSWER) isApplied = false;
    return { ...read, results: results.slice(1) };
  };
  try {
    const answers = await runBoundedCalls(groups, send);
    return { isApplied, answers };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { isApplied: false, answers: await boundedCalls(target, block, groups, signal) };
  }
}

/**
 * Runs isolated calls in one `eth_call`, in order, as far as its gas goes; by default it has the gas that nodes allow. At
 * a block that is being built, a first call checks that it runs there.
 *
 * @throws RpcFailure when it failed on every node
 */
export function boundedCallsOnce(
  target: ChainTarget,
  block: BlockRef | 'latest',
  calls: readonly BoundedCall[],
  signal?: AbortSignal,
  gas = CALL_GAS_CAP,
  overrides?: CodeOverrides,
): Promise<BoundedAnswer> {
  const pending = block === 'latest' ? undefined : block.pending;
  const checks = pending ? [CLOCK_CALL] : [];
  const sent = [...checks, ...calls];
  const decode = (answer: Hex): BoundedAnswer => {
    const { results, ...read } = decodeBoundedCalls(answer, sent.length);
    if (pending) checkClock(pending, results[0]);
    return { ...read, results: results.slice(checks.length) };
  };
  const program = { data: encodeBoundedCalls(sent), gas };
  return runProgram(target, block, program, decode, signal, withClock(pending, overrides));
}

/** Adds the code of {@link CLOCK} for a block that is being built. */
const withClock = (pending: PendingState | undefined, overrides: CodeOverrides | undefined) =>
  pending ? new Map([...(overrides ?? []), [CLOCK, CLOCK_CODE]]) : overrides;

/** @throws RpcFailure `ignored` when the call did not run in the block that is being built */
function checkClock(pending: PendingState, clock: CallResult | null | undefined): void {
  const { timestamp, blockNumber } = pending;
  if (clock?.data === numberToHex((timestamp << 64n) | blockNumber, { size: 32 })) return;
  throw new RpcFailure('ignored', 'a node ignores the overrides of state or block');
}

/**
 * Runs creation code in one `eth_call`, whose answer begins with the chain id.
 *
 * @param decode reads the answer, as in {@link ChainRpc.request}
 * @param overrides other code at some addresses, which some nodes ignore
 * @throws RpcFailure when it failed on every node
 */
export function runProgram<T>(
  { rpc, chainId }: ChainTarget,
  block: BlockRef | 'latest',
  { data, gas }: { readonly data: Hex; readonly gas: bigint },
  decode: (answer: Hex) => T,
  signal?: AbortSignal,
  overrides?: CodeOverrides,
): Promise<T> {
  const check = (answer: Hex): T => {
    checkChain(chainId, BigInt(sliceHex(answer, 0, 32, { strict: true })));
    return decode(answer);
  };
  return rpc.call({ from: CALLER, data, gas, block, overrides }, check, signal);
}

/** Packs groups into chunks, one `eth_call` each. */
export function packCalls(groups: readonly (readonly ContractCall[])[]): (readonly ContractCall[])[][] {
  return packGroups(groups, [
    { of: ({ gas }) => gas, most: CHUNK_GAS },
    { of: ({ data }) => data.length, most: CHUNK_HEX_CHARS },
  ]);
}

async function runChunk(
  { rpc, chainId, multicall3 }: MulticallTarget,
  block: BlockRef | 'latest',
  chunk: readonly (readonly ContractCall[])[],
  overrides: CodeOverrides | undefined,
  signal: AbortSignal | undefined,
): Promise<CallResult[][]> {
  const calls = chunk
    .flatMap((group, owner) => group.map((call, rank) => ({ ...call, owner, rank })))
    .sort((a, b) => a.rank - b.rank);
  const pending = block === 'latest' ? undefined : block.pending;
  const checks = [{ target: multicall3, data: CHAIN_ID_CALL }, ...(pending ? [CLOCK_CALL] : [])];
  const data = encodeAggregate3([...checks, ...calls]);
  const call = { to: multicall3, data, gas: CALL_GAS_CAP, block, overrides: withClock(pending, overrides) };
  const results = await rpc.call(call, (result) => checkedResults(result, chainId, pending, calls.length), signal);
  const byGroup = chunk.map((): CallResult[] => []);
  for (const [index, result] of results.entries()) byGroup[calls[index]?.owner ?? 0]?.push(result);
  return byGroup;
}

function checkedResults(result: Hex, chainId: number, pending: PendingState | undefined, count: number): CallResult[] {
  const [chain, ...results] = decodeAggregate3(result);
  const clock = pending && results.shift();
  if (!chain?.success || results.length !== count)
    throw new RpcFailure('malformed', 'a multicall gave too few results');
  checkChain(chainId, BigInt(chain.data));
  if (pending) checkClock(pending, clock);
  return results;
}
