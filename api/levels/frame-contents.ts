import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { BlockTooOldError, isExhausted, SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import type { Clock } from '../../runtime/clock.ts';

/** What became of a pool at a block; undefined while nothing did. */
type Outcome<S extends Snapshot> = S | SnapshotError | undefined;

/** The pools of a frame at a block. A pool is in neither list if it cannot have a quote there. */
export interface PoolsAt<S extends Snapshot> {
  /** Those that were read, healthy or not. */
  readonly read: readonly S[];
  /** What became of those that were not read, and that frames wait for. */
  readonly unread: readonly (SnapshotError | undefined)[];
  /** Whether nodes gave any pool, be it that it has no quote. */
  readonly isAnswered: boolean;
}

/** For how long a frame waits for a pool that nodes do not give, milliseconds: for a block, and one more. */
export const maxUnreadMs = ({ blockTimeMs }: { readonly blockTimeMs: number }): number =>
  Math.max(5_000, 2 * blockTimeMs);

/** After this time without a look at a pool it counts as one that was never looked at. */
const FORGET_MS = 60_000;

/** What nodes did for a pool that is not read. `called`: calls are in flight. `waiting`: it is not its turn. */
type Progress = 'failed' | 'called' | 'waiting';

interface MissingPool {
  readonly since: number;
  readonly seenAt: number;
  readonly hasFailed: boolean;
}

/**
 * Decides which pools frames wait for: each that is not read, unless nodes do not give it for `maxMs`. Such a pool is
 * left out until it is read. The time runs on between failed calls, while it is not the pool's turn. One that only
 * waits for its turn is never left out.
 */
export class AwaitedPools {
  /** Pools that nodes do not give: since when, when they were last looked at, and whether calls failed since. */
  readonly #missing = new Map<Address, MissingPool>();

  constructor(
    private readonly maxMs: number,
    private readonly now: Clock,
  ) {}

  /** @returns whether a frame waits for a pool that is not read */
  isAwaited(pool: Address, progress: Progress): boolean {
    const now = this.now();
    const known = this.#missing.get(pool);
    const last = known && now - known.seenAt < FORGET_MS ? known : { since: now, hasFailed: false };
    const hasFailed = last.hasFailed || progress === 'failed';
    const isAwaited = now - last.since < this.maxMs;
    if (isAwaited && progress === 'waiting' && !hasFailed) this.#missing.delete(pool);
    else this.#missing.set(pool, { since: last.since, seenAt: now, hasFailed });
    return isAwaited;
  }

  /** Notes that a pool was read. */
  noteRead(pool: Address): void {
    this.#missing.delete(pool);
  }
}

/** What is known of the pools of a frame. */
export interface KnownPools<S extends Snapshot> {
  readonly outcomeOf: (pool: Address) => Outcome<S>;
  /** Whether nodes are called for a pool now. */
  readonly isBeingRead: (pool: ServedPool) => boolean;
  readonly awaited: AwaitedPools;
}

/** Sorts pools by what became of them at a block, whatever is built on it. */
export function poolsAt<S extends Snapshot>(
  { hash }: BlockRef,
  pools: readonly ServedPool[],
  { outcomeOf, isBeingRead, awaited }: KnownPools<S>,
): PoolsAt<S> {
  const read: S[] = [];
  const unread: (SnapshotError | undefined)[] = [];
  let isAnswered = false;
  for (const pool of pools) {
    const outcome = outcomeOf(pool.address);
    const failure = outcome instanceof SnapshotError ? outcome : undefined;
    const snapshot = outcome instanceof SnapshotError || outcome?.block.hash !== hash ? undefined : outcome;
    if (snapshot) read.push(snapshot);
    if (snapshot || (failure && isOwnFailure(failure))) {
      isAnswered = true;
      awaited.noteRead(pool.address);
      continue;
    }
    const progress = isNodeFailure(failure) ? 'failed' : isBeingRead(pool) ? 'called' : 'waiting';
    if (awaited.isAwaited(pool.address, progress)) unread.push(failure);
  }
  return { read, unread, isAnswered };
}

/** Whether the pool itself has no quote, such as one that simulates no swaps, however well nodes answer. */
const isOwnFailure = (error: SnapshotError): boolean =>
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
