/** A frame; `late` when it cannot be whole yet although the chain is read; null when nothing of the chain is known. */
export type Made = Buffer | 'late' | null;

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
  | { readonly kind: 'changed' | 'time' }
  | { readonly kind: 'made'; readonly made: Made };

/** All times are of one clock, milliseconds. */
export interface FeedState<R> {
  /** The readers, and when each joined. */
  readonly readers: ReadonlyMap<R, number>;
  /** The last frame; null when the last attempt gave none. */
  readonly frame: Buffer | null;
  readonly isMaking: boolean;
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
  readonly send: { readonly frame: Buffer; readonly to: readonly R[] } | null;
  /** Readers that are sent away for want of frames. They are not readers any more. */
  readonly silent: readonly R[];
}

/** Without a frame for this long a reader is sent away. */
export const MAX_SILENCE_MS = 2_000;

/** The state of a feed that nobody reads yet. */
export const newFeed = <R>(): FeedState<R> => ({
  readers: new Map(),
  frame: null,
  isMaking: false,
  isChanged: false,
  triedAt: Number.NEGATIVE_INFINITY,
  frameAt: Number.NEGATIVE_INFINITY,
  knownAt: Number.NEGATIVE_INFINITY,
});

/**
 * What a feed becomes, and has to do, when something happens.
 *
 * 1. A frame is made at a change, `minMs` after the last one at the earliest, and after `maxMs` without a change. It goes
 *    to all readers that are ready; none is made while no reader is.
 * 2. A new reader gets the last frame, unless the source changed since or a newer one is due.
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
  const state = isMakeDue ? { ...known, isMaking: true, isChanged: false } : known;
  // An attempt may end the silence, as after the process stood still.
  const silent = state.isMaking
    ? []
    : [...state.readers].filter(([, joinedAt]) => now >= silentAt(state, joinedAt, pace));
  const next = silent.length > 0 ? { ...state, readers: without(state.readers, new Map(silent)) } : state;
  const send = sent(next, event, isDue || before.isMaking);
  return [next, { wakeAt: wakeAt(next, now, pace), isMakeDue, send, silent: silent.map(([reader]) => reader) }];
}

const without = <R>(readers: FeedState<R>['readers'], removed: { has(reader: R): boolean }): FeedState<R>['readers'] =>
  new Map([...readers].filter(([reader]) => !removed.has(reader)));

function withEvent<R>(state: FeedState<R>, event: FeedEvent<R>, now: number): FeedState<R> {
  switch (event.kind) {
    case 'joined':
      return { ...state, readers: new Map(state.readers).set(event.reader, now) };
    case 'left':
      return { ...state, readers: without(state.readers, new Set([event.reader])) };
    case 'changed':
      return { ...state, isChanged: true };
    case 'made': {
      const frame = event.made === 'late' ? null : event.made;
      const knownAt = event.made ? now : state.knownAt;
      return { ...state, isMaking: false, frame, triedAt: now, frameAt: frame ? now : state.frameAt, knownAt };
    }
    case 'time':
      return state;
  }
}

/** When the next attempt is due. */
function dueAt<R>({ frame, isChanged, triedAt }: FeedState<R>, { minMs, maxMs }: FramePace): number {
  if (frame) return triedAt + (isChanged ? minMs : maxMs);
  return triedAt + (isChanged ? 0 : minMs);
}

/** When a reader that joined at this time is sent away, if it gets no frame. */
function silentAt<R>({ frameAt, knownAt }: FeedState<R>, joinedAt: number, pace: FramePace): number {
  const lateAt = Math.max(joinedAt, frameAt) + (pace.maxLateMs ?? MAX_SILENCE_MS);
  return Math.min(Math.max(joinedAt, knownAt) + MAX_SILENCE_MS, lateAt);
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

/** @param isNewerDue whether a newer frame than the last one is due or being made */
function sent<R extends { readonly isReady: boolean }>(
  { readers, frame, isChanged }: FeedState<R>,
  event: FeedEvent<R>,
  isNewerDue: boolean,
): FeedEffects<R>['send'] {
  if (!frame) return null;
  const isLast = !isNewerDue && !isChanged;
  const to = event.kind === 'made' ? [...readers.keys()] : event.kind === 'joined' && isLast ? [event.reader] : [];
  const ready = to.filter(({ isReady }) => isReady);
  return ready.length > 0 ? { frame, to: ready } : null;
}
