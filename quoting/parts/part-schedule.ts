/** What happened. `time`: nothing but that time passed. */
export type PartEvent =
  | { readonly kind: 'time' }
  /** Somebody asks for quotes, or follows them. */
  | { readonly kind: 'wanted' }
  /** A node pushed a part. */
  | { readonly kind: 'pushed' }
  /** A node pushed a part whose state is known without a call. */
  | { readonly kind: 'unchanged' }
  /** A node pushed a log of a part: its other logs come with it. */
  | { readonly kind: 'logged' }
  /** The call that was begun has ended. */
  | { readonly kind: 'ended' }
  /**
   * Another process shared what its call showed; `comesFirst`: of two that read,
   * this process is to leave it to that one.
   */
  | { readonly kind: 'heard'; readonly comesFirst: boolean };

/** All times are of one clock that never goes back, milliseconds. */
export interface ScheduleState {
  readonly isReading: boolean;
  /** Whether a part was pushed since the last call began. */
  readonly isPushed: boolean;
  readonly pushedAt: number;
  readonly readAt: number;
  /** When another process that comes first was last heard. */
  readonly heardAt: number;
}

export interface ScheduleEffects {
  /** Whether to make a call; `ended` must follow. */
  readonly read: boolean;
  /** When it needs a `time`; null: not before another event. */
  readonly wakeAt: number | null;
}

/** Parts come this often. */
export const PART_MS = 200;
/** Without a push for so long, parts are polled. */
export const SILENT_MS = 2 * PART_MS;
/**
 * A process that leaves calls to another one makes them itself if it heard nothing from it for so long. That one
 * shares something within each `SILENT_MS`, however slow parts are: the rest is for calls and messages to arrive.
 */
export const LEFT_MS = SILENT_MS + PART_MS / 2;

/** The logs of a part come within this time. */
export const LOGS_MS = PART_MS / 2;

export const idle: ScheduleState = {
  isReading: false,
  isPushed: false,
  pushedAt: Number.NEGATIVE_INFINITY,
  readAt: Number.NEGATIVE_INFINITY,
  heardAt: Number.NEGATIVE_INFINITY,
};

/**
 * When to ask nodes which part they are at.
 *
 * 1. One call is in flight at most.
 * 2. No call begins while nobody wants quotes.
 * 3. A call begins at a push, at once or after the one in flight: one for all pushes meanwhile. A log is a push
 *    unless a call began less than `LOGS_MS` before: then it is of the same part.
 * 4. Without a push for `SILENT_MS`, a call begins `PART_MS` after the last one.
 * 5. No call begins within `LEFT_MS` of what a process shared that comes first.
 *
 * So one process makes all calls while calls and messages take less than 100 ms together. Others do beside it
 * at the start, for a moment after it ended or stood still, and while what is shown is not used, so not shared.
 *
 * @param isWanted whether somebody wants quotes now
 */
export function nextSchedule(
  before: ScheduleState,
  event: PartEvent,
  now: number,
  isWanted: boolean,
): readonly [ScheduleState, ScheduleEffects] {
  const state = withEvent(before, event, now);
  if (!isWanted || state.isReading) return [state, { read: false, wakeAt: null }];
  const dueAt = Math.max(callAt(state), state.heardAt + LEFT_MS);
  if (now < dueAt) return [state, { read: false, wakeAt: dueAt }];
  return [
    { ...state, isReading: true, isPushed: false, readAt: now },
    { read: true, wakeAt: null },
  ];
}

function withEvent(state: ScheduleState, event: PartEvent, now: number): ScheduleState {
  switch (event.kind) {
    case 'pushed':
      return { ...state, isPushed: true, pushedAt: now };
    case 'unchanged':
      return { ...state, pushedAt: now };
    case 'logged':
      return now - state.readAt < LOGS_MS ? state : { ...state, isPushed: true, pushedAt: now };
    case 'ended':
      return { ...state, isReading: false };
    case 'heard':
      return event.comesFirst ? { ...state, heardAt: now } : state;
    case 'wanted':
    case 'time':
      return state;
  }
}

/** When the next call is due in this process. */
const callAt = ({ isPushed, pushedAt, readAt }: ScheduleState): number =>
  isPushed ? readAt : Math.max(readAt + PART_MS, pushedAt + SILENT_MS);
