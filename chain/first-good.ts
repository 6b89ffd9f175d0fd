import type { OutageLog } from '../runtime/outage-log.ts';
import type { AbleNodes } from './able-nodes.ts';
import { throughBreaker } from './checked-request.ts';
import { isLaterView, OtherPart } from './part-view.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { MissingAbility, RpcFailure } from './rpc-failure.ts';

/** A call that waited for so long when its caller's deadline passed counts as one that no node answered. */
const MIN_WAIT_MS = 1_000;

/** Notes calls that a node answered, and calls that no node did. */
export type NodeOutage = Pick<OutageLog, 'failed' | 'worked'>;

export const allPaused = () => new RpcFailure('paused', 'every node of the chain is paused after failures');

/**
 * Asks nodes in their order, until one gives a usable answer.
 *
 * @throws RpcFailure of the last node that refused, or of the last one asked when none did; OtherPart with the latest
 * part that any of them is at; MissingAbility where nodes are down and another one lacks what is needed
 */
export async function firstGood<T>(
  { endpoints, missing }: AbleNodes,
  attempt: (endpoint: RpcEndpoint) => Promise<T>,
  { signal, outage }: { readonly signal: AbortSignal | undefined; readonly outage: NodeOutage | undefined },
): Promise<T> {
  const startedAt = performance.now();
  let failure: RpcFailure | undefined;
  for (const endpoint of endpoints) {
    try {
      const result = await throughBreaker(endpoint, attempt);
      outage?.worked();
      return result;
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      failure = moreTelling(failure ?? allPaused(), error);
    }
  }
  const last = failure ?? allPaused();
  const isLate = isTimeout(signal) && performance.now() - startedAt >= MIN_WAIT_MS;
  const isDown = last.isNodeFault || last.code === 'paused';
  if (isDown || isLate) outage?.failed(last);
  if (missing === undefined || !isDown) throw last;
  throw new MissingAbility(missing, `${last.message}; another node lacks ${missing}`, last.code);
}

/** Of the failures of two nodes, asked one after the other, the one to pass on. */
function moreTelling(last: RpcFailure, next: RpcFailure): RpcFailure {
  if (next.code === 'paused') return last;
  if (last instanceof OtherPart) return next instanceof OtherPart && isLaterView(next.view, last.view) ? next : last;
  return next.isNodeFault && last.isAnswer ? last : next;
}

/** Whether a deadline of the caller passed. */
const isTimeout = (signal: AbortSignal | undefined): boolean =>
  signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
