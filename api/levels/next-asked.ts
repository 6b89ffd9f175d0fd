import type { MadeFrame } from './frame-schedule.ts';

/**
 * What happened to the frames that clients ask for one by one. `silence`: the feed sent its reader away. `time`:
 * time passed.
 */
export type AskedEvent =
  | { readonly kind: 'asked' | 'silence' | 'time' }
  /** `begunAt`: when its making began. */
  | { readonly kind: 'frame'; readonly frame: MadeFrame; readonly begunAt: number };

/** All times are of one clock, milliseconds. */
export interface AskedState {
  readonly isReading: boolean;
  readonly askedAt: number;
  /** When the clients that wait asked, in this order. */
  readonly waiting: readonly number[];
}

/** What there is to do, in this order. */
export interface AskedEffects {
  /** What so many of the clients that wait get, the first ones; `late`: there is no frame. */
  readonly answer: { readonly frame: MadeFrame | 'late'; readonly count: number } | null;
  /** Whether to begin to read the feed, or to end that. */
  readonly reading: boolean | null;
  /** When it needs a `time`; null: at no time. */
  readonly wakeAt: number | null;
}

/** After this time without a question the feed is not read any more. */
export const KEEP_MS = 30_000;
export const MAX_WAIT_MS = 20_000;

export const NOT_ASKED: AskedState = { isReading: false, askedAt: Number.NEGATIVE_INFINITY, waiting: [] };

/**
 * What becomes of the frames that clients ask for one by one, and what there is to do, when something happens.
 *
 * 1. The feed has one reader for all who ask, from the first question until `KEEP_MS` after the last one.
 * 2. A client gets the next frame whose making began after it asked:
 *    another process may have given it a newer one than the last frame here.
 * 3. A client waits for `MAX_WAIT_MS` at most, and not longer than the feed keeps a reader.
 */
export function nextAsked(before: AskedState, event: AskedEvent, now: number): readonly [AskedState, AskedEffects] {
  const { waiting, askedAt, isReading } = before;
  switch (event.kind) {
    case 'asked':
      return after({ isReading: true, askedAt: now, waiting: [...waiting, now] }, null, isReading ? null : true);
    case 'frame':
      return answered(before, event.frame, (since) => since <= event.begunAt);
    case 'silence':
      return answered({ ...before, isReading: false }, 'late', () => true);
    case 'time': {
      const isOver = isReading && waiting.length === 0 && now >= askedAt + KEEP_MS;
      if (isOver) return after(NOT_ASKED, null, false);
      return answered(before, 'late', (since) => now >= since + MAX_WAIT_MS);
    }
  }
}

/** Answers the clients that asked at such a time, which are the first ones. */
function answered(state: AskedState, frame: MadeFrame | 'late', isAnswered: (since: number) => boolean) {
  const rest = state.waiting.findIndex((since) => !isAnswered(since));
  const count = rest < 0 ? state.waiting.length : rest;
  const next = count === 0 ? state : { ...state, waiting: state.waiting.slice(count) };
  return after(next, count === 0 ? null : { frame, count }, null);
}

function after(
  state: AskedState,
  answer: AskedEffects['answer'],
  reading: AskedEffects['reading'],
): readonly [AskedState, AskedEffects] {
  const [since] = state.waiting;
  const wakeAt = since === undefined ? state.askedAt + KEEP_MS : since + MAX_WAIT_MS;
  return [state, { answer, reading, wakeAt: state.isReading ? wakeAt : null }];
}
