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
  /** When a part was first pushed since the last call began, or since another process shared one; null: none was. */
  readonly unreadSince: number | null;
  readonly pushedAt: number;
  readonly readAt: number;
  /** When another process that comes first was last heard, if no call of this one began since. */
  readonly heardAt: number | null;
  /** How long after a push it is heard: the longest time of the last seconds, at first `SHARED_MS`. */
  readonly usualMs: number;
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
/** What a process shares of a part arrives this long after the push, or after the poll is due, at most. */
const SHARED_MS = 150;
/** A process that leaves calls to another one makes them itself at the latest so long after that one was heard. */
export const LEFT_MS = PART_MS + PART_MS / 2;
/** A process that is usually heard sooner after a push is gone after twice that and this. */
export const LATE_MS = 40;
/** At each part, how much of a usual time is kept: half of it for two seconds. */
const KEPT = 15 / 16;
/** A push so soon after another process was heard is of the part that this one shared. */
const SKEW_MS = 50;

/** The logs of a part come within this time. */
export const LOGS_MS = PART_MS / 2;

export const idle: ScheduleState = {
  isReading: false,
  unreadSince: null,
  pushedAt: Number.NEGATIVE_INFINITY,
  readAt: Number.NEGATIVE_INFINITY,
  heardAt: null,
  usualMs: SHARED_MS,
};

/**
 * When to ask nodes which part they are at.
 *
 * 1. One call is in flight at most.
 * 2. No call begins while nobody wants quotes.
 * 3. A call begins at a push, at once or after the one in flight: one for all pushes meanwhile. A log is a push
 *    unless a call began less than `LOGS_MS` before: then it is of the same part.
 * 4. Without a push for `SILENT_MS`, a call begins `PART_MS` after the last one.
 * 5. While a process shares parts that comes first, it makes the calls. It is gone if nothing of it comes within
 *    `LEFT_MS` of what it shared last, nor within `SHARED_MS` of the push, or of the time, at which it makes a call;
 *    or if after a push nothing comes within `LATE_MS` more than twice the usual time.
 *
 * So one process makes all calls while pushes, calls and messages take as long as they did. When it ends, others quote
 * the next part before the one after that. Others also make calls at the start, when it is much slower for once, and
 * while what is shown is not used, so not shared.
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
  const dueAt = callAt(state);
  if (now < dueAt) return [state, { read: false, wakeAt: dueAt }];
  return [
    { ...state, isReading: true, unreadSince: null, readAt: now, heardAt: null },
    { read: true, wakeAt: null },
  ];
}

function withEvent(state: ScheduleState, event: PartEvent, now: number): ScheduleState {
  const { readAt, heardAt } = state;
  switch (event.kind) {
    case 'pushed':
      return heardAt !== null && now - heardAt < SKEW_MS ? { ...state, pushedAt: now } : withPush(state, now);
    case 'unchanged':
      return { ...state, pushedAt: now };
    case 'logged':
      return now - (heardAt ?? readAt) < LOGS_MS ? state : withPush(state, now);
    case 'ended':
      return { ...state, isReading: false };
    case 'heard':
      return event.comesFirst ? { ...state, heardAt: now, unreadSince: null, usualMs: usualAfter(state, now) } : state;
    case 'wanted':
    case 'time':
      return state;
  }
}

const withPush = (state: ScheduleState, now: number): ScheduleState => ({
  ...state,
  pushedAt: now,
  unreadSince: state.unreadSince ?? now,
});

/** One that is heard soon may be of a call that began before the push: only many of them say something. */
const usualAfter = ({ unreadSince, usualMs }: ScheduleState, now: number): number =>
  unreadSince === null ? usualMs : Math.max(now - unreadSince, KEPT * usualMs);

/** When the next call is due in this process. */
function callAt({ unreadSince, pushedAt, readAt, heardAt, usualMs }: ScheduleState): number {
  const silentAt = pushedAt + SILENT_MS;
  if (heardAt === null) return unreadSince === null ? Math.max(readAt + PART_MS, silentAt) : readAt;
  const goneAt = Math.max(heardAt + LEFT_MS, (unreadSince ?? silentAt) + SHARED_MS);
  return unreadSince === null ? goneAt : Math.min(goneAt, unreadSince + 2 * usualMs + LATE_MS);
}
