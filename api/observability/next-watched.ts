import type { BlockPoint } from '../../db/indexed-blocks.ts';

/** One poll of a chain. Null stands for what is unknown. */
export type ChainPoll = { readonly indexed: BlockPoint | null; readonly head: BlockPoint | null };

/** The last poll of a chain, and when the index was last seen to follow the chain; null when never. */
export type Watched = ChainPoll & { readonly followedAt: number | null; readonly stalled: boolean };

export const NOTHING_KNOWN: Watched = { indexed: null, head: null, followedAt: null, stalled: true };

/** A block of up to this age may be the newest, in block times: one more than its age when the next one is seen. */
const YOUNG_BLOCKS = 2;
/** Timestamps of blocks count seconds. */
const TIMESTAMP_MS = 1_000;

/** What counts for whether a chain is stalled, milliseconds. */
export interface LagBounds {
  readonly blockTimeMs: number;
  readonly maxLagMs: number;
  readonly maxQuoteAgeMs: number;
}

/**
 * What is known of a chain after a poll.
 *
 * 1. It is stalled unless a poll saw the index follow it within `maxLagMs`.
 * 2. It is stalled while the head is further behind the index than `maxQuoteAgeMs`: quotes are then too old.
 *
 * @param now Unix milliseconds
 */
export function nextWatched(before: Watched | undefined, poll: ChainPoll, now: number, bounds: LagBounds): Watched {
  const { blockTimeMs, maxLagMs, maxQuoteAgeMs } = bounds;
  const { indexed, head } = poll;
  const isHeadLate = indexed && head && (indexed.number - head.number) * blockTimeMs > maxQuoteAgeMs;
  const followedAt = isFollowing(before, poll, bounds) ? now : (before?.followedAt ?? null);
  const stalled = isHeadLate || followedAt === null || now - followedAt > maxLagMs;
  return { ...poll, followedAt, stalled };
}

/**
 * Whether the index follows the chain: it is at the head, or it moved since the last poll and is near the head.
 *
 * 1. The distance counts in usual block times, not by timestamps: after an hour without blocks, an index that lacks the
 *    next block is not an hour behind.
 * 2. At the first poll, the index counts as moved.
 */
function isFollowing(
  before: ChainPoll | undefined,
  { indexed, head }: ChainPoll,
  { blockTimeMs, maxLagMs }: LagBounds,
): boolean {
  if (!indexed || !head) return false;
  if (areSame(indexed, head)) return true;
  const hasMoved = !before?.indexed || !areSame(before.indexed, indexed);
  return hasMoved && Math.abs(head.number - indexed.number) * blockTimeMs <= maxLagMs;
}

/** Whether two blocks are the same. Blocks of one height differ, as a rule, in time if one was reorganised away. */
function areSame(one: BlockPoint, other: BlockPoint): boolean {
  return one.number === other.number && one.timestamp === other.timestamp;
}

/** Whether an indexed block is young enough to be the newest of its chain. @param now Unix milliseconds */
export const mayBeHead = ({ timestamp }: BlockPoint, now: number, blockTimeMs: number): boolean =>
  Math.abs(now - timestamp * 1_000) <= YOUNG_BLOCKS * blockTimeMs + TIMESTAMP_MS;
