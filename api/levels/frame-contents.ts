import { RpcFailure } from '../../chain/rpc-failure.ts';
import { BlockTooOldError, isExhausted, type SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';

/** The pools of a frame at a block. A pool is in neither list if it cannot have a quote there. */
export interface PoolsAt<S extends Snapshot> {
  /** Those that were read, healthy or not. */
  readonly read: readonly S[];
  /** What became of those that were not read, and that frames wait for. */
  readonly unread: readonly (SnapshotError | undefined)[];
  /** Whether nodes gave any pool, be it that it has no quote. */
  readonly isAnswered: boolean;
}

/** Whether the pool itself has no quote, such as one that simulates no swaps, however well nodes answer. */
export const isOwnFailure = (error: SnapshotError): boolean =>
  error.code !== 'timed_out' && !(error instanceof BlockTooOldError) && !(error.cause instanceof RpcFailure);

/** Whether nodes did not give a pool, rather than that it was not its turn. */
export const isNodeFailure = (outcome: SnapshotError | undefined): outcome is SnapshotError =>
  outcome instanceof BlockTooOldError || (outcome?.cause !== undefined && !isExhausted(outcome));

/**
 * Gives what a frame of requested pools shows. `late` while it cannot be whole; null when nodes give none of the pools.
 *
 * @param isOverdue whether it shows pools of several states of the block being built rather than come later
 */
export function frameContents<S extends Snapshot>(
  { read, unread, isAnswered }: PoolsAt<S>,
  isOverdue: boolean,
): readonly S[] | 'late' | null {
  if (!isAnswered && unread.every(isNodeFailure)) return null;
  if (unread.length > 0) return 'late';
  const states = new Set(read.flatMap(({ block: { pending } }) => pending?.digest ?? []));
  return states.size > 1 && !isOverdue ? 'late' : read;
}
