import type { Hex } from 'viem';
import {
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
  return runBoundedCalls(groups, (calls) => {
    const decode = (result: Hex) => decodeBoundedCalls(result, calls.length);
    return runCreationCode(target, block, encodeBoundedCalls(calls), decode, signal);
  });
}
