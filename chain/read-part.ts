import { encodeFunctionData, parseAbi } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import type { ContractCall, MulticallTarget } from './multicall.ts';
import { decodeAggregate3, encodeAggregate3 } from './multicall3.ts';
import { readView, viewCalls } from './part-view.ts';
import type { PartView } from './pending-state.ts';
import type { CodeOverrides } from './read-context.ts';
import { checkChain, RpcFailure } from './rpc-failure.ts';

const CHAIN_ID_CALL = encodeFunctionData({ abi: parseAbi(['function getChainId() view returns (uint256)']) });

/** Calls to make in the one that shows the part. */
export interface FurtherCalls {
  readonly calls: readonly Pick<ContractCall, 'target' | 'data'>[];
  /** Code to put at addresses for them. */
  readonly code: CodeOverrides;
}

/** None. */
export const NO_CALLS: FurtherCalls = { calls: [], code: new Map() };

/** The part that a call showed, and the results of the further calls. */
export interface ShownPartAnd {
  readonly view: PartView;
  readonly results: readonly CallResult[];
}

/**
 * Reads which part the nodes are at, by one call.
 *
 * @throws RpcFailure when no node gave it
 */
export const readPart = async (target: MulticallTarget, signal: AbortSignal): Promise<PartView> =>
  (await readPartAnd(target, NO_CALLS, signal)).view;

/**
 * Reads which part the nodes are at, and what further calls give there, by one call.
 *
 * @throws RpcFailure when no node gave it
 */
export function readPartAnd(
  { rpc, chainId, multicall3 }: MulticallTarget,
  { calls: further, code }: FurtherCalls,
  signal: AbortSignal,
): Promise<ShownPartAnd> {
  const shown = viewCalls(multicall3);
  const calls = [{ target: multicall3, data: CHAIN_ID_CALL }, ...shown, ...further];
  const data = encodeAggregate3(calls);
  const call = { to: multicall3, data, block: 'pending', signal, ...(code.size > 0 && { code }) } as const;
  return rpc.call(call, (answer, node) => {
    const [chain, ...results] = decodeAggregate3(answer);
    if (!chain?.success) throw new RpcFailure('malformed', 'a call at the tag pending does not show its chain');
    checkChain(chainId, BigInt(chain.data));
    return { view: readView(results, node.label), results: results.slice(shown.length) };
  });
}
