export interface HeadPace {
  readonly blockTimeMs: number;
  /** Pause after a poll that failed or found no new block. */
  readonly retryMs: number;
}

/** A poll comes this part of a block time before the next block is due, so that polls approach the time of blocks. */
const EARLY_PART = 0.05;

/** What a follower of heads saw. */
export interface Follower {
  /** The hash of the last head; empty before the first. */
  readonly lastHash: string;
  readonly hasPolled: boolean;
  /** Whether sockets push headers that have all fields. */
  readonly areHeadersUsable: boolean;
}

/** What happened. `unusable`: a pushed header lacks a field. */
export type FollowerEvent =
  | { readonly kind: 'polled'; readonly hash: string; readonly startedAt: number }
  | { readonly kind: 'pushed'; readonly hash: string }
  | { readonly kind: 'unusable' };

/** @param areHeadersUsable whether there are sockets */
export const newFollower = (areHeadersUsable: boolean): Follower => ({
  lastHash: '',
  hasPolled: false,
  areHeadersUsable,
});

/** Whether pushed headers are taken: not before a poll, which shows which sockets lag, nor after an unusable one. */
export const takesHeaders = ({ hasPolled, areHeadersUsable }: Follower): boolean => hasPolled && areHeadersUsable;

/**
 * What a follower of heads is after an event, and after how many milliseconds the next poll is due.
 *
 * 1. After a poll that found a new block, the next one comes shortly before the next block is due, or `retryMs` later.
 * 2. After any other event, `retryMs` pass.
 * 3. Once a header was unusable, only polls follow the chain.
 *
 * @param now milliseconds, of the clock of `startedAt`
 */
export function nextFollower(
  before: Follower,
  event: FollowerEvent,
  now: number,
  { blockTimeMs, retryMs }: HeadPace,
): readonly [Follower, pauseMs: number] {
  if (event.kind === 'unusable') return [{ ...before, areHeadersUsable: false }, retryMs];
  const state = { ...before, lastHash: event.hash };
  if (event.kind === 'pushed') return [state, retryMs];
  const isNew = event.hash !== before.lastHash;
  const dueMs = blockTimeMs * (1 - EARLY_PART) - (now - event.startedAt);
  return [{ ...state, hasPolled: true }, isNew ? Math.max(retryMs, dueMs) : retryMs];
}
