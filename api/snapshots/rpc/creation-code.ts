import type { Hex } from 'viem';
import { CALL_GAS_CAP, CALLER } from '../../../protocol/bounded-calls/bounded-calls.ts';
import type { BlockRef } from '../types.ts';
import type { MulticallTarget } from './multicall.ts';
import { checkChain } from './rpc-failure.ts';

/**
 * Runs creation code that nobody deploys, in an `eth_call` without address. What its constructor returns is the answer; it
 * names the chain, so that a node of another one is found out by it.
 *
 * @throws RpcFailure when it failed on every node
 */
export function runCreationCode<A extends { readonly chainId: bigint }>(
  { rpc, chainId }: MulticallTarget,
  block: BlockRef,
  data: Hex,
  decode: (result: Hex) => A,
  signal?: AbortSignal,
): Promise<A> {
  const check = (result: Hex): A => {
    const answer = decode(result);
    checkChain(chainId, answer.chainId);
    return answer;
  };
  return rpc.call({ from: CALLER, data, gas: CALL_GAS_CAP, block }, check, signal);
}
