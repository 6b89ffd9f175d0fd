import type { BlockRef } from '../../chain/read-context.ts';

/** A frame as it is sent, and the block that it was read at. */
export interface MadeFrame {
  readonly frame: Buffer;
  readonly block: BlockRef;
}

/** A frame; `late` when it cannot be whole yet although the chain is read; null when nothing of the chain is known. */
export type Made = MadeFrame | 'late' | null;

/** The times of a feed, milliseconds. */
export interface FramePace {
  /** Shortest and longest time between two frames. */
  readonly minMs: number;
  readonly maxMs: number;
  /** How late a frame may be while the chain is read. Default: `MAX_SILENCE_MS`, as when it is not. */
  readonly maxLateMs?: number;
}

/** What happened to a feed. `time`: nothing but that time passed. */
export type FeedEvent<R> =
  | { readonly kind: 'joined' | 'left'; readonly reader: R }
  /** `asked`: a reader needs a frame that is begun from now on. */
  | { readonly kind: 'changed' | 'asked' | 'time' }
  | { readonly kind: 'made'; readonly made: Made };

/** All times are of one clock, milliseconds. */
export interface FeedState<R> {
  /** The readers, and when each joined. */
  readonly readers: ReadonlyMap<R, number>;
  /** Whether the last attempt gave a frame. */
  readonly hasFrame: boolean;
  readonly isMaking: boolean;
  /** When the last attempt began, and when a reader last joined or asked. */
  readonly begunAt: number;
  readonly askedAt: number;
  /** Whether the source changed since the last attempt began. */
  readonly isChanged: boolean;
  /** When the last attempt ended. */
  readonly triedAt: number;
  /** When readers last had no reason to miss a frame: there was one, or none of them took any. */
  readonly frameAt: number;
  /** The same, where a late frame counts as one. */
  readonly knownAt: number;
}

/** What a feed has to do, in this order. */
export interface FeedEffects<R> {
  /** When it needs a `time`; infinite while it waits for `made`. Null: the last reader is gone, and the feed ends. */
  readonly wakeAt: number | null;
  /** Whether to make a frame; `made` must follow. */
  readonly isMakeDue: boolean;
  /** A frame for these readers, as far as each is ready when it is its turn. */
  readonly send: { readonly made: MadeFrame; readonly begunAt: number; readonly to: readonly R[] } | null;
  /** Readers that are sent away for want of frames. They are not readers any more. */
  readonly silent: readonly R[];
}

/** Without a frame for this long a reader is sent away. */
export const MAX_SILENCE_MS = 2_000;

/** The state of a feed that nobody reads yet. */
export const newFeed = <R>(): FeedState<R> => ({
  readers: new Map(),
  hasFrame: false,
  isMaking: false,
  begunAt: Number.NEGATIVE_INFINITY,
  askedAt: Number.NEGATIVE_INFINITY,
  isChanged: false,
  triedAt: Number.NEGATIVE_INFINITY,
  frameAt: Number.NEGATIVE_INFINITY,
  knownAt: Number.NEGATIVE_INFINITY,
});

/**
 * What a feed becomes, and has to do, when something happens.
 *
 * 1. A frame is made at a change and for a reader that joined or asked, `minMs` after the last one at the earliest, and
 *    after `maxMs` without these. It goes to readers that are ready; none is made while no reader is.
 * 2. A reader gets only frames whose making began after it joined:
 *    another process may have given it a newer one than the last frame here.
 * 3. After an attempt without a frame, the next one comes at a change, or after `minMs`.
 * 4. A reader is sent away after `MAX_SILENCE_MS` without a frame, counted from when it joined. While frames are late,
 *    that takes `maxLateMs`.
 */
export function nextFeed<R extends { readonly isReady: boolean }>(
  before: FeedState<R>,
  event: FeedEvent<R>,
  now: number,
  pace: FramePace,
): readonly [FeedState<R>, FeedEffects<R>] {
  const happened = withEvent(before, event, now);
  const isDue = !happened.isMaking && now >= dueAt(happened, pace);
  const isMakeDue = isDue && happened.readers.keys().some(({ isReady }) => isReady);
  const known = isDue && !isMakeDue ? { ...happened, frameAt: now, knownAt: now } : happened;
  const state = isMakeDue ? { ...known, isMaking: true, isChanged: false, begunAt: now } : known;
  // An attempt may end the silence, as after the process stood still.
  const silent = state.isMaking ? [] : silentReaders(state, now, pace);
  const next = silent.length > 0 ? { ...state, readers: without(state.readers, new Set(silent)) } : state;
  const send = event.kind === 'made' && event.made && event.made !== 'late' ? sent(next, event.made, before) : null;
  return [next, { wakeAt: wakeAt(next, now, pace), isMakeDue, send, silent }];
}

const without = <R>(readers: FeedState<R>['readers'], removed: { has(reader: R): boolean }): FeedState<R>['readers'] =>
  new Map([...readers].filter(([reader]) => !removed.has(reader)));

function withEvent<R>(state: FeedState<R>, event: FeedEvent<R>, now: number): FeedState<R> {
  switch (event.kind) {
    case 'joined':
      return { ...state, readers: new Map(state.readers).set(event.reader, now), askedAt: now };
    case 'left':
      return { ...state, readers: without(state.readers, new Set([event.reader])) };
    case 'changed':
      return { ...state, isChanged: true };
    case 'asked':
      return { ...state, askedAt: now };
    case 'made': {
      const hasFrame = event.made !== null && event.made !== 'late';
      const knownAt = event.made ? now : state.knownAt;
      return { ...state, isMaking: false, hasFrame, triedAt: now, frameAt: hasFrame ? now : state.frameAt, knownAt };
    }
    case 'time':
      return state;
  }
}

/** When the next attempt is due. */
function dueAt<R>(state: FeedState<R>, { minMs, maxMs }: FramePace): number {
  const { hasFrame, isChanged, triedAt, begunAt, askedAt } = state;
  if (hasFrame) return triedAt + (isChanged || askedAt > begunAt ? minMs : maxMs);
  return triedAt + (isChanged ? 0 : minMs);
}

/** When a reader that joined at this time is sent away, if it gets no frame. */
function silentAt<R>({ frameAt, knownAt }: FeedState<R>, joinedAt: number, pace: FramePace): number {
  const lateAt = Math.max(joinedAt, frameAt) + (pace.maxLateMs ?? MAX_SILENCE_MS);
  return Math.min(Math.max(joinedAt, knownAt) + MAX_SILENCE_MS, lateAt);
}

/** Readers that are to be sent away: who joined first is the first of them. */
function silentReaders<R>(state: FeedState<R>, now: number, pace: FramePace): readonly R[] {
  const silent: R[] = [];
  for (const [reader, joinedAt] of state.readers) {
    if (now < silentAt(state, joinedAt, pace)) break;
    silent.push(reader);
  }
  return silent;
}

function wakeAt<R>(state: FeedState<R>, now: number, pace: FramePace): number | null {
  // The first reader joined before all others, so that it is sent away first.
  const [joinedAt] = state.readers.values();
  if (joinedAt === undefined) return null;
  const due = dueAt(state, pace);
  // Readers that are not ready do not say when they are.
  const tryAt = due > now ? due : now + pace.minMs;
  return state.isMaking ? Number.POSITIVE_INFINITY : Math.min(tryAt, silentAt(state, joinedAt, pace));
}

function sent<R>({ readers }: FeedState<R>, made: MadeFrame, { begunAt }: FeedState<R>): FeedEffects<R>['send'] {
  const to: R[] = [];
  for (const [reader, joinedAt] of readers) if (joinedAt <= begunAt) to.push(reader);
  return to.length > 0 ? { made, begunAt, to } : null;
}
