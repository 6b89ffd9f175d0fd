import { encodeFunctionData, parseAbi } from 'viem';
import type { MulticallTarget } from './multicall.ts';
import { decodeAggregate3, encodeAggregate3 } from './multicall3.ts';
import { readView, viewCalls } from './part-view.ts';
import type { PartView } from './pending-state.ts';
import { checkChain, RpcFailure } from './rpc-failure.ts';

const CHAIN_ID_CALL = encodeFunctionData({ abi: parseAbi(['function getChainId() view returns (uint256)']) });

/**
 * Reads which part the nodes are at, by one call.
 *
 * @throws RpcFailure when no node gave it
 */
export function readPart({ rpc, chainId, multicall3 }: MulticallTarget, signal: AbortSignal): Promise<PartView> {
  const calls = [{ target: multicall3, data: CHAIN_ID_CALL }, ...viewCalls(multicall3)];
  const call = { to: multicall3, data: encodeAggregate3(calls), block: 'pending', signal } as const;
  return rpc.call(call, (answer, node) => {
    const [chain, ...results] = decodeAggregate3(answer);
    if (!chain?.success) throw new RpcFailure('malformed', 'a call at the tag pending does not show its chain');
    checkChain(chainId, BigInt(chain.data));
    return readView(results, node.label);
  });
}
