import type { Hex } from 'viem';
import {
  type BoundedAnswer,
  type BoundedCall,
  decodeBoundedCalls,
  encodeBoundedCalls,
} from '../../../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../../../protocol/bounded-calls/run-bounded-calls.ts';
import type { BlockRef } from '../types.ts';
import { runCreationCode } from './creation-code.ts';
import type { MulticallTarget } from './multicall.ts';

/**
 * Runs calls of strangers' contracts at one block, none of which can spoil another: see `runBoundedCalls`.
 *
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export function boundedCalls(
  target: MulticallTarget,
  block: BlockRef,
  groups: readonly (readonly BoundedCall[])[],
  signal?: AbortSignal,
): Promise<(GroupAnswer | null)[]> {
  return runBoundedCalls(groups, (calls) => boundedCallsOnce(target, block, calls, signal));
}

/**
 * Runs calls in one `eth_call`, in order, as far as its gas goes.
 *
 * @throws RpcFailure when it failed on every node
 */
export function boundedCallsOnce(
  target: MulticallTarget,
  block: BlockRef,
  calls: readonly BoundedCall[],
  signal?: AbortSignal,
): Promise<BoundedAnswer> {
  const decode = (result: Hex) => decodeBoundedCalls(result, calls.length);
  return runCreationCode(target, block, encodeBoundedCalls(calls), decode, signal);
}
