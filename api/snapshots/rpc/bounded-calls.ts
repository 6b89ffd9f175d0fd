import type { Hex } from 'viem';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALLER,
  decodeBoundedCalls,
  encodeBoundedCalls,
} from '../../../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../../../protocol/bounded-calls/run-bounded-calls.ts';
import type { BlockRef } from '../types.ts';
import { CALL_GAS_CAP, type MulticallTarget } from './multicall.ts';
import { RpcFailure } from './rpc-failure.ts';

/**
 * Runs calls of strangers' contracts at one block, none of which can spoil another: see `runBoundedCalls`.
 *
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export function boundedCalls(
  { rpc, chainId }: MulticallTarget,
  block: BlockRef,
  groups: readonly (readonly BoundedCall[])[],
  signal?: AbortSignal,
): Promise<(GroupAnswer | null)[]> {
  return runBoundedCalls(groups, (calls) =>
    rpc.call(
      { from: CALLER, data: encodeBoundedCalls(calls), gas: CALL_GAS_CAP, block },
      (result) => checkedAnswer(result, chainId, calls.length),
      signal,
    ),
  );
}

function checkedAnswer(result: Hex, chainId: number, count: number): BoundedAnswer {
  const answer = decodeBoundedCalls(result, count);
  if (answer.chainId !== BigInt(chainId)) {
    throw new RpcFailure('wrong_chain', `a node of chain ${chainId} answers for chain ${answer.chainId}`);
  }
  return answer;
}
