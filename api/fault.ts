import { QueuesUnavailableError } from '../builders/submit/dispatcher.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import { isDatabaseUnreachable } from '../db/failure.ts';
import { BlockTooOldError, SnapshotError } from '../quoting/snapshot-error.ts';

/**
 * What is at fault for a response 5xx:
 *
 * - `nodes`: nodes of the chain fail, limit requests, time out or stand still;
 * - `store`: Postgres or Redis is unreachable;
 * - `pool`: the pool does not show what its quote needs;
 * - `unavailable`: anything else that ends without a response, such as a deadline, a missing index, a call that nodes
 *   refuse or a head that moved on;
 * - `defect`: our code.
 */
export type Fault = 'nodes' | 'store' | 'pool' | 'unavailable' | 'defect';

/** Faults that end by themselves, and begin and end in the log as an outage. */
export const isOutage = (fault: Fault | null): boolean => fault === 'nodes' || fault === 'store';

/** @param cause what the response follows from */
export function faultOf(status: number, cause: unknown): Fault {
  let fault: Fault = status === 502 ? 'pool' : status === 500 ? 'defect' : 'unavailable';
  for (let error = cause; error instanceof Error; error = error.cause) {
    if (isOfNodes(error)) return 'nodes';
    if (error instanceof QueuesUnavailableError || isDatabaseUnreachable(error)) return 'store';
    if (error instanceof RpcFailure) fault = 'unavailable';
    if (error instanceof SnapshotError) fault = error.code === 'timed_out' ? 'unavailable' : 'pool';
  }
  return fault;
}

/** Whether no node answers, or all stand still. A refusal of what was asked is an answer. */
const isOfNodes = (error: Error): boolean =>
  error instanceof BlockTooOldError ||
  (error instanceof RpcFailure && (error.isNodeFault || error.code === 'paused' || error.isLimit));
