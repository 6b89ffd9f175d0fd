import { learnFrom } from './learn-abilities.ts';
import type { NodeRequest } from './needs.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { MissingAbility, RpcFailure, refusesRequest } from './rpc-failure.ts';

/** A request, and what reads its result. */
export interface CheckedRequest<T> extends NodeRequest {
  /** When it throws, the node's answer counts as malformed, unless it throws an `RpcFailure`. */
  readonly check: (result: unknown, node: RpcEndpoint) => T;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a request of one node, and notes what its failure shows of the node.
 *
 * @throws RpcFailure
 */
export async function requestChecked<T>(endpoint: RpcEndpoint, request: CheckedRequest<T>): Promise<T> {
  try {
    return await requestOnce(endpoint, request).catch((error) => requestAgain(endpoint, request, error));
  } catch (error) {
    learnFrom(endpoint, request, error);
    throw error;
  }
}

async function requestOnce<T>(endpoint: RpcEndpoint, { method, params, check, signal }: CheckedRequest<T>): Promise<T> {
  const result = await endpoint.request(method, params, signal);
  try {
    return check(result, endpoint);
  } catch (error) {
    if (error instanceof RpcFailure) throw error;
    throw new RpcFailure('malformed', `${endpoint.label} answered ${method} with data that does not decode`);
  }
}

/**
 * Makes a refused request again of a node that answers it without what it needs: the node may not have had its block.
 *
 * @throws MissingAbility when the node refuses it again; the failure, where this is not so
 */
async function requestAgain<T>(endpoint: RpcEndpoint, request: CheckedRequest<T>, failure: unknown): Promise<T> {
  const { method, extra, signal } = request;
  if (!extra || !refusesRequest(failure)) throw failure;
  await endpoint.request(method, extra.without, signal).catch(() => Promise.reject(failure));
  return requestOnce(endpoint, request).catch((error) => {
    throw refusesRequest(error) ? new MissingAbility(extra.ability, error.message) : error;
  });
}

/**
 * Makes a request of one node if its breaker lets it pass, and reports the outcome to the breaker.
 *
 * @throws RpcFailure `paused` while the breaker is open; what `attempt` throws
 */
export async function throughBreaker<T>(
  endpoint: RpcEndpoint,
  attempt: (endpoint: RpcEndpoint) => Promise<T>,
): Promise<T> {
  if (!endpoint.breaker.tryPass()) throw new RpcFailure('paused', `${endpoint.label} is paused after failures`);
  try {
    const result = await attempt(endpoint);
    endpoint.breaker.succeeded();
    return result;
  } catch (error) {
    report(endpoint, error);
    throw error;
  }
}

function report({ breaker }: RpcEndpoint, error: unknown): void {
  if (error instanceof RpcFailure && error.code === 'aborted') breaker.givenUp();
  else if (!(error instanceof RpcFailure) || !error.isNodeFault) breaker.succeeded();
  else if (error.code === 'wrong_chain') breaker.open();
  else breaker.failed();
}
