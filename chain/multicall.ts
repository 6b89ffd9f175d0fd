import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import { packGroups } from '../protocol/pack-groups.ts';
import type { ChainTarget } from './isolated-calls.ts';
import { decodeAggregate3, encodeAggregate3 } from './multicall3.ts';
import { overrideChecks } from './override-checks.ts';
import type { CallContext } from './read-context.ts';
import { checkChain, RpcFailure } from './rpc-failure.ts';

export interface MulticallTarget extends ChainTarget {
  readonly multicall3: Address;
}

/** One call of a multicall. `gas` is what it may need, by which calls are packed into chunks. */
export interface ContractCall {
  readonly target: Address;
  readonly data: Hex;
  readonly gas: number;
  /** Whether it may burn the gas: it comes after all others of its chunk. Only the last call of a group may. */
  readonly isLast?: boolean;
}

/** Most estimated gas of a chunk, below the cap of an `eth_call`. */
export const CHUNK_GAS = 44_000_000;
/** Hex characters of calldata in one chunk: some providers refuse larger bodies. */
const CHUNK_HEX_CHARS = 1_500_000;

const chainIdAbi = parseAbi(['function getChainId() view returns (uint256)']);
const CHAIN_ID_CALL = encodeFunctionData({ abi: chainIdAbi });

/**
 * Runs calls through Multicall3, in as few `eth_call`s as gas and calldata allow, all at once. Multicall3 gives all gas
 * to each call, so this is only for contracts that are known not to burn it.
 *
 * @param groups calls that stay together in one chunk, such as those of one pool; within a chunk the first calls of all
 *   groups come before the second ones, and so on
 * @returns results in the shape of `groups`
 * @throws RpcFailure when a chunk failed on every node; MissingAbility when none that works applies overrides
 */
export async function multicall(
  target: MulticallTarget,
  context: CallContext,
  groups: readonly (readonly ContractCall[])[],
): Promise<CallResult[][]> {
  const results = await Promise.all(packCalls(groups).map((chunk) => runChunk(target, context, chunk)));
  return results.flat();
}

/** Packs groups into chunks, one `eth_call` each. */
export function packCalls(groups: readonly (readonly ContractCall[])[]): (readonly ContractCall[])[][] {
  return packGroups(groups, [
    { of: ({ gas }) => gas, most: CHUNK_GAS },
    { of: ({ data }) => data.length, most: CHUNK_HEX_CHARS },
  ]);
}

const rankOf = ({ isLast }: ContractCall, index: number): number => (isLast ? Number.MAX_SAFE_INTEGER : index);

async function runChunk(
  { rpc, chainId, multicall3 }: MulticallTarget,
  context: CallContext,
  chunk: readonly (readonly ContractCall[])[],
): Promise<CallResult[][]> {
  const calls = chunk
    .flatMap((group, owner) => group.map((call, index) => ({ ...call, owner, rank: rankOf(call, index) })))
    .sort((a, b) => a.rank - b.rank);
  const overrides = overrideChecks(context, 'stateOverrides');
  const checks = [{ target: multicall3, data: CHAIN_ID_CALL }, ...overrides.calls];
  const call = { ...overrides.context, to: multicall3, data: encodeAggregate3([...checks, ...calls]) };
  const results = await rpc.call(call, (answer, node) => {
    const found = decodeAggregate3(answer);
    const [chain, ...checked] = found.splice(0, checks.length);
    if (!chain?.success || found.length !== calls.length)
      throw new RpcFailure('malformed', 'a multicall gave too few results');
    checkChain(chainId, BigInt(chain.data));
    overrides.check(checked, node.label);
    return found;
  });
  const byGroup = chunk.map((): CallResult[] => []);
  for (const [index, result] of results.entries()) byGroup[calls[index]?.owner ?? 0]?.push(result);
  return byGroup;
}
