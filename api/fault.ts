import { QueuesUnavailableError } from '../builders/submit/dispatcher.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import { isDatabaseUnreachable } from '../db/failure.ts';
import { BlockTooOldError, SnapshotError } from '../quoting/snapshot-error.ts';

/**
 * What is at fault for a response 5xx:
 *
 * - `nodes`: nodes of the chain fail, refuse, time out or stand still;
 * - `store`: Postgres or Redis is unreachable;
 * - `pool`: the pool does not show what its quote needs;
 * - `unavailable`: anything else that ends without a response, such as a deadline or a missing index;
 * - `defect`: our code.
 */
export type Fault = 'nodes' | 'store' | 'pool' | 'unavailable' | 'defect';

/** Faults that end by themselves, and begin and end in the log as an outage. */
export const isOutage = (fault: Fault | null): boolean => fault === 'nodes' || fault === 'store';

/** @param cause what the response follows from */
export function faultOf(status: number, cause: unknown): Fault {
  let isOfPool = status === 502;
  for (let error = cause; error instanceof Error; error = error.cause) {
    if (error instanceof RpcFailure || error instanceof BlockTooOldError) return 'nodes';
    if (error instanceof QueuesUnavailableError || isDatabaseUnreachable(error)) return 'store';
    if (!(error instanceof SnapshotError)) continue;
    if (error.code === 'timed_out') return 'nodes';
    isOfPool = true;
  }
  if (isOfPool) return 'pool';
  return status === 500 ? 'defect' : 'unavailable';
}
