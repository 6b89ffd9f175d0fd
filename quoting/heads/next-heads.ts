import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import { maxBigint, minBigint } from '../../protocol/fixed-point.ts';
import {
  ageMs,
  awaited,
  GRACE_MS,
  type HeadEffects,
  type Headed,
  type HeadPace,
  type HeadState,
  heightOf,
  isPollDue,
  isRenewalDue,
  isWatchedPollDue,
  lastHead,
  type Step,
  takeAt,
  watchedPollAt,
} from './head-state.ts';
import { type HeardHeads, withHeard, withoutReached } from './heard-heads.ts';
import { judge, lookedUp, takeNext } from './judge-heads.ts';

/** What happened. `time`: nothing but that time passed. `wallMs`: now, as Unix milliseconds. */
export type HeadEvent<H> =
  | { readonly kind: 'watched' | 'unwatched' | 'time' }
  /** A request asked for the head. `waits`: for a poll too, if there is no head without one. */
  | { readonly kind: 'asked'; readonly waits: boolean; readonly wallMs: number }
  /** A poll gave heads: that of one node, or those of all others that answer. */
  | { readonly kind: 'polled'; readonly heads: readonly H[] }
  /** A poll gave none. */
  | { readonly kind: 'failed' }
  /** A socket pushed a head, or another process has read at it. */
  | { readonly kind: 'pushed' | 'shared'; readonly head: H; readonly wallMs: number }
  /** Another process took a head of this height. */
  | { readonly kind: 'heard'; readonly from: string; readonly number: bigint }
  /** Other processes know of a head that was taken. */
  | { readonly kind: 'announced'; readonly head: H }
  /** The block that was looked up; undefined when no node gives it. */
  | { readonly kind: 'header'; readonly header: BlockHeader | undefined }
  /** Nodes gave what was read at this block, or refused it. */
  | { readonly kind: 'read' | 'rejected'; readonly block: BlockRef };

const NOTHING = { taken: [], polled: null, poll: null, lookUp: null, wakeAt: null };
/** Timestamps of blocks count whole seconds. */
const TIMESTAMP_MS = 1_000;
/** Sockets of two processes push a block within this time of each other. */
const PUSH_LAG_MS = 250;
/** When no node knows the last block or a higher one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
/** More heads than are refused while a read is in flight. */
const MAX_REFUSED = 4;

/**
 * What is known of a chain's heads, and what there is to do, when something happens.
 *
 * 1. A head is used for at most one block time and a second after a poll or a push reported it.
 * 2. Heads are taken at least `minRefreshMs` apart, counted from the start of the poll or from the push, unless nodes
 *    refused to read at the last one, or another process took one as high.
 * 3. A head that was read at never gives way to a lower block unless the chain went back, which shows as another hash
 *    at a known height, or as a later timestamp, of a block that was not replaced before. One that nodes refuse before
 *    they gave anything of it does, until they give it.
 * 4. A head is taken once parent hashes show what it replaces.
 * 5. One poll is in flight at most. While nobody asks or watches, none starts.
 * 6. A height that another process took is awaited at most `FOLLOW_MS`, and changes no head: the nodes of this process
 *    give it, or it is given up.
 * 7. Other processes do not know of the last head from when it is taken until it is `announced`.
 */
export function nextHeads<H extends Headed>(
  before: HeadState<H>,
  event: HeadEvent<H>,
  now: number,
  pace: HeadPace,
): readonly [HeadState<H>, HeadEffects<H>] {
  const happened = withEvent({ state: before, effects: NOTHING, now, pace }, event);
  const { effects } = happened;
  const unannounced = effects.taken.at(-1)?.head ?? happened.state.unannounced;
  const state = { ...happened.state, heard: heardAbove(happened.state), unannounced };
  return [state, { ...effects, wakeAt: state.watchers > 0 ? wakeAt(state, now, pace) : null }];
}

function withEvent<H extends Headed>(step: Step<H>, event: HeadEvent<H>): Step<H> {
  const { state } = step;
  switch (event.kind) {
    case 'asked':
      return withPoll(takeNext(step, step.now), (after, now, pace) =>
        event.waits ? isPollDue(after, now) : isRenewalDue(after, now, event.wallMs, pace),
      );
    case 'time':
      return withPoll(takeNext(step, step.now), isWatchedPollDue);
    case 'watched':
      return { ...step, state: { ...state, watchers: state.watchers + 1 } };
    case 'unwatched':
      return { ...step, state: { ...state, watchers: state.watchers - 1 } };
    case 'polled':
      return withPolled(step, event.heads);
    case 'failed':
      return { ...step, state: { ...state, poll: undefined } };
    case 'pushed': {
      const reached = maxBigint(state.reached, event.head.block.number);
      return withPushed({ ...step, state: { ...state, reached, pushedAt: step.now } }, event);
    }
    case 'shared':
      return event.head.block.number > heightOf(state) ? withPushed(step, event) : step;
    case 'heard':
      return withAnnounced({
        ...step,
        state: { ...state, heard: withHeard(state.heard, event, step.now), heardAt: step.now },
      });
    case 'announced':
      return state.unannounced === event.head ? { ...step, state: { ...state, unannounced: undefined } } : step;
    case 'header':
      return lookedUp(step, event.header);
    case 'read':
      return { ...step, state: withRead(state, event.block) };
    case 'rejected':
      return { ...step, state: withRejected(state, event.block) };
  }
}

/** Makes a poll due for a height that is awaited, or takes the head that has it. */
function withAnnounced<H extends Headed>(step: Step<H>): Step<H> {
  const { state, now, pace } = step;
  if (!awaited(state, now)) return step;
  // A socket is likely to push it in a moment.
  const isPushed = now - state.pushedAt < 2 * pace.blockTimeMs + TIMESTAMP_MS;
  const dueAt = Math.min(state.dueAt, isPushed ? now + PUSH_LAG_MS : now);
  return takeNext({ ...step, state: { ...state, dueAt } }, now);
}

/** What was heard, without what nodes have reported and was taken. */
const heardAbove = <H extends Headed>(state: HeadState<H>): HeardHeads =>
  withoutReached(state.heard, minBigint(state.reached, heightOf(state)));

/** Starts a poll if one is due, and none is in flight. */
function withPoll<H>(step: Step<H>, isDue: (state: HeadState<H>, now: number, pace: HeadPace) => boolean): Step<H> {
  const { state, effects, now, pace } = step;
  if (state.poll || !isDue(state, now, pace)) return step;
  return {
    ...step,
    state: { ...state, poll: { first: undefined }, polledAt: now },
    effects: { ...effects, poll: 'one' },
  };
}

/** Where one node gives no higher head although a block is overdue, polls the others for the highest head. */
function withPolled<H extends Headed>(step: Step<H>, heads: readonly H[]): Step<H> {
  const { state, effects, now, pace } = step;
  const { current, polledAt, poll } = state;
  const [first, ...others] = poll?.first ? [poll.first, ...heads] : heads;
  if (!first) return step;
  const best = others.reduce((highest, head) => (head.block.number > highest.block.number ? head : highest), first);
  const isOverdue = polledAt > state.takenAt + pace.blockTimeMs + GRACE_MS || awaited(state, now) !== null;
  if (!poll?.first && current && isOverdue && best.block.number <= current.block.number) {
    return { ...step, state: { ...state, poll: { first: best } }, effects: { ...effects, poll: 'others' } };
  }
  const behindSince = isBehind(state, best) ? (state.behindSince ?? polledAt) : undefined;
  const isRolledBack = behindSince !== undefined && polledAt - behindSince >= ROLLBACK_MS;
  const dueAt = polledAt + nextPollMs(state, pace);
  const { number } = best.block;
  const reached = isRolledBack ? number : maxBigint(state.reached, number);
  const next = { ...step, state: { ...state, reached, behindSince } };
  return judge(next, { head: best, dueAt, isPolled: true, isRolledBack });
}

function isBehind<H extends Headed>(state: HeadState<H>, { block }: H): boolean {
  const last = lastHead(state)?.block;
  const isBelowLast = last !== undefined && block.number <= last.number && block.hash !== last.hash;
  // Who listens has the last head that was taken, also while it gives way to the one before.
  const { taken } = state;
  return isBelowLast || (block.number <= taken.top && block.hash !== taken.hashAt(taken.top));
}

/** How long after the start of a poll the next one is due. */
function nextPollMs<H>({ polledAt, lastPollAt }: HeadState<H>, { blockTimeMs, minRefreshMs }: HeadPace): number {
  // After a recent poll, a new block is recent as well. The next block is then due a block time later, and a slow
  // chain is not polled until then.
  const isSeenComing = polledAt - lastPollAt <= minRefreshMs + GRACE_MS;
  return isSeenComing ? Math.max(minRefreshMs, blockTimeMs - GRACE_MS) : minRefreshMs;
}

/** Judges a pushed head like a polled one. No poll is due while more are pushed. */
function withPushed<H extends Headed>(step: Step<H>, { head, wallMs }: { head: H; wallMs: number }): Step<H> {
  const { state, now, pace } = step;
  // A head that waited in its socket, as when the process was paused, is used for a shorter time or not at all.
  const lateMs = Math.max(0, ageMs(head.block, wallMs) - pace.blockTimeMs - TIMESTAMP_MS);
  const usedForMs = Math.max(pace.minRefreshMs, pace.blockTimeMs + GRACE_MS) - lateMs;
  if (usedForMs <= 0) return step;
  const isCurrent = head.block.hash === state.current?.block.hash;
  const dueAt = isCurrent ? Math.max(state.dueAt, state.takenAt + usedForMs) : state.dueAt;
  // A lower head is not a sign that the chain was rolled back: the node of the socket may lag.
  const candidate = { head, dueAt: now + usedForMs, isPolled: false, isRolledBack: false };
  return takeNext(judge({ ...step, state: { ...state, dueAt } }, candidate), now);
}

/** Takes a head that was refused again, as readers may see what was read at it. */
function withRead<H extends Headed>(state: HeadState<H>, { hash, number }: BlockRef): HeadState<H> {
  const { current, refused } = state;
  if (current?.block.hash === hash) return { ...state, readAt: hash };
  const again = number > heightOf(state) ? refused.find(({ block }) => block.hash === hash) : undefined;
  return again ? { ...state, current: again, readAt: hash } : state;
}

/** Makes a poll due, and goes back to the previous head if nobody can have seen this one. */
function withRejected<H extends Headed>(state: HeadState<H>, { hash }: BlockRef): HeadState<H> {
  const { current, readAt } = state;
  if (current?.block.hash !== hash) return state;
  const due = { ...state, takenAt: Number.NEGATIVE_INFINITY, dueAt: Number.NEGATIVE_INFINITY };
  if (readAt === hash) return due;
  const refused = [current, ...state.refused].slice(0, MAX_REFUSED);
  return { ...due, current: state.previous, refused };
}

function wakeAt<H extends Headed>(state: HeadState<H>, now: number, pace: HeadPace): number {
  const pollAt = state.poll ? Number.POSITIVE_INFINITY : watchedPollAt(state, pace);
  return state.next ? Math.min(takeAt(state, now, pace), pollAt) : pollAt;
}
