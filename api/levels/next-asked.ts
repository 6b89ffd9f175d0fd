/** What happened to the frames that clients ask for one by one. `silence`: the feed sent its reader away. `time`: time passed. */
export type AskedEvent =
  /** `isOutdated`: whether a later block than that of the last frame was read. */
  | { readonly kind: 'asked'; readonly isOutdated: boolean }
  | { readonly kind: 'silence' | 'time' }
  | { readonly kind: 'frame'; readonly frame: Buffer };

/** All times are of one clock, milliseconds. */
export interface AskedState {
  readonly isReading: boolean;
  /** The last frame since the feed is read; null: none came yet. */
  readonly frame: Buffer | null;
  readonly frameAt: number;
  readonly askedAt: number;
  /** Since when a client waits; null: none does. */
  readonly waitsSince: number | null;
}

/** What there is to do, in this order. */
export interface AskedEffects {
  /** What all clients that wait get; `late`: there is no frame. Null: they go on waiting. */
  readonly answer: Buffer | 'late' | null;
  /** Whether to begin to read the feed, or to end that. */
  readonly reading: boolean | null;
  /** When it needs a `time`; null: at no time. */
  readonly wakeAt: number | null;
}

/** After this time without a question the feed is not read any more. */
export const KEEP_MS = 30_000;
/** Frames that are younger than this are given at once: feeds make one each second. */
const FRESH_MS = 1_000;
const MAX_WAIT_MS = 20_000;

export const NOT_ASKED: AskedState = {
  isReading: false,
  frame: null,
  frameAt: Number.NEGATIVE_INFINITY,
  askedAt: Number.NEGATIVE_INFINITY,
  waitsSince: null,
};

/**
 * What becomes of the frames that clients ask for one by one, and what there is to do, when something happens.
 *
 * 1. The feed has one reader for all who ask, from the first question until `KEEP_MS` after the last one.
 * 2. A client gets a frame that is younger than `FRESH_MS` and of the last block that was read, or the next one.
 * 3. A client waits for `MAX_WAIT_MS` at most, and not longer than the feed keeps a reader.
 */
export function nextAsked(before: AskedState, event: AskedEvent, now: number): readonly [AskedState, AskedEffects] {
  switch (event.kind) {
    case 'asked': {
      const isFresh = before.frame !== null && !event.isOutdated && now - before.frameAt < FRESH_MS;
      const state = { ...before, isReading: true, askedAt: now };
      const waiting = { ...state, waitsSince: before.waitsSince ?? now };
      return isFresh ? after(state, before.frame) : after(waiting, null, before.isReading ? null : true);
    }
    case 'frame':
      return after({ ...before, frame: event.frame, frameAt: now, waitsSince: null }, event.frame);
    case 'silence':
      return after({ ...NOT_ASKED, askedAt: before.askedAt }, 'late');
    case 'time': {
      const isLate = before.waitsSince !== null && now >= before.waitsSince + MAX_WAIT_MS;
      const state = isLate ? { ...before, waitsSince: null } : before;
      const isOver = state.isReading && state.waitsSince === null && now >= state.askedAt + KEEP_MS;
      return after(isOver ? NOT_ASKED : state, isLate ? 'late' : null, isOver ? false : null);
    }
  }
}

function after(
  state: AskedState,
  answer: AskedEffects['answer'],
  reading: AskedEffects['reading'] = null,
): readonly [AskedState, AskedEffects] {
  const { isReading, waitsSince, askedAt } = state;
  const wakeAt = waitsSince === null ? askedAt + KEEP_MS : waitsSince + MAX_WAIT_MS;
  return [state, { answer, reading, wakeAt: isReading ? wakeAt : null }];
}
