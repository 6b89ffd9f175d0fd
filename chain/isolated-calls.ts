import type { Hex } from 'viem';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALL_GAS_CAP,
  CALLER,
  decodeBoundedCalls,
  encodeBoundedCalls,
} from '../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../protocol/bounded-calls/run-bounded-calls.ts';
import type { BlockRef, ChainRpc } from './chain-rpc.ts';
import { checkChain } from './rpc-failure.ts';

type Target = { readonly rpc: ChainRpc; readonly chainId: number };

/**
 * Runs calls of strangers' contracts at one block, isolated from each other: see `runBoundedCalls`.
 *
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export function boundedCalls(
  target: Target,
  block: BlockRef | 'latest',
  groups: readonly (readonly BoundedCall[])[],
  signal?: AbortSignal,
): Promise<(GroupAnswer | null)[]> {
  return runBoundedCalls(groups, (calls) => boundedCallsOnce(target, block, calls, signal));
}

/**
 * Runs calls in one `eth_call`, in order, as far as its gas goes: by default as much as nodes give. The answer names the chain, so that a node of another one
 * is found out by it.
 *
 * @throws RpcFailure when it failed on every node
 */
export function boundedCallsOnce(
  { rpc, chainId }: Target,
  block: BlockRef | 'latest',
  calls: readonly BoundedCall[],
  signal?: AbortSignal,
  gas = CALL_GAS_CAP,
): Promise<BoundedAnswer> {
  const check = (result: Hex): BoundedAnswer => {
    const answer = decodeBoundedCalls(result, calls.length);
    checkChain(chainId, answer.chainId);
    return answer;
  };
  return rpc.call({ from: CALLER, data: encodeBoundedCalls(calls), gas, block }, check, signal);
}
