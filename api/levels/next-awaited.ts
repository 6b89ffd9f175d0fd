import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { isNodeFailure, isOwnFailure, type PoolsAt } from './frame-contents.ts';

/** For how long a frame waits for a pool that nodes do not give, milliseconds: for a block, and one more. */
export const maxUnreadMs = ({ blockTimeMs }: { readonly blockTimeMs: number }): number =>
  Math.max(5_000, 2 * blockTimeMs);

/** After this time without a look at a pool it counts as one that was never looked at. */
const FORGET_MS = 60_000;

/** A look at a pool of a frame. */
export interface PoolLook<S extends Snapshot> {
  readonly pool: Address;
  /** What became of the pool, at this block or another; undefined while nothing did. */
  readonly outcome: S | SnapshotError | undefined;
  /** Whether nodes are called for it now. */
  readonly isBeingRead: boolean;
}

/** A pool that nodes do not give: since when, when it was last looked at, and whether calls failed since. */
export interface MissingPool {
  readonly since: number;
  readonly seenAt: number;
  readonly hasFailed: boolean;
}

export type MissingPools = ReadonlyMap<Address, MissingPool>;

export const NONE_MISSING: MissingPools = new Map();

/** Looks at the pools of a frame, all at one block. */
export interface FrameLook<S extends Snapshot> {
  readonly block: BlockRef;
  readonly pools: readonly PoolLook<S>[];
}

/**
 * Sorts pools by what became of them at a block, whatever is built on it, and decides which of them frames wait for.
 *
 * 1. A frame waits for each pool that is not read, unless nodes do not give it for `maxMs`. Such a pool is left out
 *    until it is read.
 * 2. The time runs on between failed calls, while it is not the pool's turn.
 * 3. A pool that only waits for its turn is never left out.
 * 4. A pool that was in no frame for `FORGET_MS` counts as one that was in none before.
 */
export function nextAwaited<S extends Snapshot>(
  before: MissingPools,
  { block, pools }: FrameLook<S>,
  now: number,
  maxMs: number,
): readonly [MissingPools, PoolsAt<S>] {
  const read: S[] = [];
  const unread: (SnapshotError | undefined)[] = [];
  const after = new Map(before);
  let isAnswered = false;
  for (const { pool, outcome, isBeingRead } of pools) {
    const failure = outcome instanceof SnapshotError ? outcome : undefined;
    const snapshot = outcome instanceof SnapshotError || outcome?.block.hash !== block.hash ? undefined : outcome;
    if (snapshot) read.push(snapshot);
    if (snapshot || (failure && isOwnFailure(failure))) {
      isAnswered = true;
      after.delete(pool);
      continue;
    }
    const known = before.get(pool);
    const last = known && now - known.seenAt < FORGET_MS ? known : { since: now, hasFailed: false };
    const hasFailed = last.hasFailed || isNodeFailure(failure);
    const isAwaited = now - last.since < maxMs;
    if (isAwaited) unread.push(failure);
    if (isAwaited && !hasFailed && !isBeingRead) after.delete(pool);
    else after.set(pool, { since: last.since, seenAt: now, hasFailed });
  }
  return [after.size === 0 ? NONE_MISSING : after, { read, unread, isAnswered }];
}
