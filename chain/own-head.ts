import { perObject } from '../runtime/per-object.ts';
import { requestChecked } from './checked-request.ts';
import { quantity, readBlock } from './node-answers.ts';
import type { BlockHeader } from './read-context.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { checkChain, refusesRequest } from './rpc-failure.ts';

/** The last head of a node that was of its chain. */
const lastHeads = perObject((_: RpcEndpoint): { last?: BlockHeader } => ({}));

/**
 * Asks a node for its head. The last one again, or one that is built on it, is of the same chain. At any other the node
 * is asked for its chain id: a balancer or a provider may begin to pass requests to a node of another chain.
 *
 * @throws RpcFailure, `wrong_chain` for a head of another chain
 */
export async function requestOwnHead(
  endpoint: RpcEndpoint,
  chainId: number,
  signal: AbortSignal | undefined,
): Promise<BlockHeader> {
  const known = lastHeads(endpoint);
  const head = await requestHead(endpoint, signal);
  const isNext = known.last && [head.hash, head.parents[0]].includes(known.last.hash);
  if (!isNext) {
    const check = (result: unknown) => checkChain(chainId, quantity.parse(result));
    const request = { method: 'eth_chainId', params: [], check, signal };
    // Reads show the chain of a node that does not give its id.
    await requestChecked(endpoint, request).catch((error) => refusesRequest(error) || Promise.reject(error));
  }
  known.last = head;
  return head;
}

/** Asks a node for its head, of whatever chain. @throws RpcFailure */
export async function requestHead(endpoint: RpcEndpoint, signal: AbortSignal | undefined): Promise<BlockHeader> {
  const params = ['latest', false];
  return requestChecked(endpoint, { method: 'eth_getBlockByNumber', params, check: readBlock, signal });
}
