import { type Answer, skipped } from '../../submit/answer.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Submission } from '../../submit/quote-update.ts';
import type { Admission } from '../../submit/stream/stream-order.ts';
import { answerTo, type KnownAnswers, withAnswer } from './known-answers.ts';
import { type Acknowledgement, updateKey } from './stream-codec.ts';

/** The circumstances in which something happens. Times are Unix milliseconds. */
export interface Moment {
  readonly now: number;
  readonly isOpen: boolean;
  /** Until when this process may send; a time in the past once the lease is lost. */
  readonly leaseUntil: number;
}

export interface DeliveryState {
  /** Updates that wait for the connection, oldest first. */
  readonly waiting: readonly Submission[];
  /** What waits for an acknowledgement, by {@link updateKey}. One serves all submissions of the same update. */
  readonly outstanding: ReadonlyMap<string, readonly Submission[]>;
  /** The earliest time at which some of that may be late. */
  readonly lateFrom: number;
  /** Deadlines of what earlier connections did not acknowledge, by id. */
  readonly sentBefore: ReadonlyMap<string, number>;
  /** What the builder answered on this connection, kept for jobs that the queue runs again. */
  readonly answers: KnownAnswers;
  /** When the connection opened, or the builder last sent something. */
  readonly lastSignAt: number;
  /** When the connection is closed at the latest; null while nobody stops the delivery. */
  readonly closeAt: number | null;
  readonly isClosed: boolean;
}

/**
 * What happened. `admitted`: what Redis decided of an update; `isOlder` if this process sent a newer one of its uuid.
 * `heard`: the builder sent something, null when it is not an acknowledgement. `time`: time passed, or the lease ended.
 */
export type DeliveryEvent =
  | { readonly kind: 'taken'; readonly submission: Submission }
  | {
      readonly kind: 'admitted';
      readonly submission: Submission;
      readonly admission: Admission;
      readonly isOlder: boolean;
    }
  | { readonly kind: 'heard'; readonly acknowledgement: Acknowledgement | null }
  | { readonly kind: 'opened' | 'time' }
  | { readonly kind: 'stopping'; readonly graceMs: number };

/**
 * What to do, in this order. `admit`: ask Redis; `admitted` follows, unless Redis fails. `publish`: an answer. `note`:
 * an end without one. `done`, `giveBack`: how an attempt ends,
 * the latter because another worker has to send the update.
 */
export type DeliveryEffect =
  | { readonly kind: 'admit' | 'send' | 'done' | 'giveBack'; readonly submission: Submission }
  | { readonly kind: 'publish'; readonly submission: Submission; readonly answer: Answer }
  | { readonly kind: 'note'; readonly submission: Submission; readonly end: 'dropped' | 'unanswered' }
  | { readonly kind: 'reconnect' | 'close' };

type Step = readonly [DeliveryState, readonly DeliveryEffect[]];

/** An update with less time left than this is dropped instead of sent. */
export const DROP_BELOW_MS = 500;
/** An update ends as unanswered within this time after its deadline, so that many that are late end together. */
export const LATE_MS = 250;
/** For this long after its deadline it is known that an update was sent: Redis may be slow to admit it again. */
const SENT_KEPT_MS = 60_000;

const NEVER = Number.POSITIVE_INFINITY;

/** What a new connection begins with. */
const NOTHING_SENT = { outstanding: new Map(), answers: new Map(), lateFrom: NEVER } satisfies Partial<DeliveryState>;

/** The state of a delivery that has just begun to dial. */
export const newDelivery = (now: number): DeliveryState => ({
  waiting: [],
  ...NOTHING_SENT,
  sentBefore: new Map(),
  lastSignAt: now,
  closeAt: null,
  isClosed: false,
});

/**
 * What a delivery becomes, and has to do, when something happens.
 *
 * 1. An update is sent at its admission, while the connection is open and the lease is held, with `DROP_BELOW_MS` left
 *    at least, and only if no newer one of its uuid was sent. Without a connection it waits,
 *    and is then admitted again.
 * 2. On one connection each update is in flight once, and what was answered is not sent again for the same job: the job
 *    gets the same answer.
 * 3. What an earlier connection did not acknowledge is attempted again when the next one opens, before what waits. If
 *    it is not sent again, it is `unanswered`, neither skipped nor dropped: the builder may have it.
 * 4. Each attempt ends. Each update in flight gets the builder's answer, or is `unanswered` after its deadline,
 *    `LATE_MS` later at the latest.
 * 5. The connection is replaced when an update ends unanswered and the builder sent nothing for as long
 *    as one may take.
 * 6. Once the lease is lost or the delivery stops, whatever waits is given back. The connection is closed when nothing
 *    is in flight, or after the grace.
 */
export function nextDelivery(before: DeliveryState, event: DeliveryEvent, moment: Moment): Step {
  const [happened, effects] = withEvent(before, event, moment);
  const [begun, starts] = withWaiting(happened, moment);
  const [swept, ends] = withoutLate(begun, moment);
  const [state, closing] = closed(swept, moment);
  return [state, [...effects, ...starts, ...ends, ...closing]];
}

/** When a delivery needs a `time`; infinite if only events change it. */
export function wakeAt({ waiting, lateFrom, closeAt, isClosed }: DeliveryState, { leaseUntil }: Moment): number {
  const at = closeAt === null || isClosed ? lateFrom : Math.min(lateFrom, closeAt);
  return waiting.reduce((earliest, each) => Math.min(earliest, leaseUntil, dropAt(each)), at);
}

const dropAt = (submission: Submission): number => deadlineMs(submission) - DROP_BELOW_MS;
const lateAt = (submission: Submission): number => deadlineMs(submission) + LATE_MS;
const maySend = ({ closeAt }: DeliveryState, { now, leaseUntil }: Moment): boolean =>
  closeAt === null && now < leaseUntil;

function withEvent(state: DeliveryState, event: DeliveryEvent, moment: Moment): Step {
  switch (event.kind) {
    case 'taken':
      return [{ ...state, waiting: [...state.waiting, event.submission] }, []];
    case 'admitted':
      return admitted(state, event, moment);
    case 'heard':
      return heard({ ...state, lastSignAt: moment.now }, event.acknowledgement, moment);
    case 'opened': {
      // The builder may not have read what it did not acknowledge.
      const unacknowledged = inFlight(state.outstanding);
      const known = [...state.sentBefore].filter(([, deadline]) => moment.now < deadline + SENT_KEPT_MS);
      const sentBefore = new Map([...known, ...unacknowledged.map((each) => [each.id, deadlineMs(each)] as const)]);
      const waiting = [...unacknowledged, ...state.waiting];
      return [{ ...state, ...NOTHING_SENT, sentBefore, waiting, lastSignAt: moment.now }, []];
    }
    case 'stopping':
      return [{ ...state, closeAt: moment.now + event.graceMs }, []];
    case 'time':
      return [state, []];
  }
}

function admitted(state: DeliveryState, event: DeliveryEvent & { readonly kind: 'admitted' }, moment: Moment): Step {
  const { submission, admission, isOlder } = event;
  const done = { kind: 'done', submission } as const;
  if (admission === 'fenced' || !maySend(state, moment)) return [state, [{ kind: 'giveBack', submission }]];
  if (admission === 'superseded' || isOlder) {
    const skip = { kind: 'publish', submission, answer: skipped.superseded } as const;
    return [state, [...unsent(state, submission, skip), done]];
  }
  if (!moment.isOpen || moment.now >= dropAt(submission))
    return [{ ...state, waiting: [...state.waiting, submission] }, []];

  const known = answerTo(state.answers, submission);
  if (known) return [state, [{ kind: 'publish', submission, answer: known }, done]];
  const key = updateKey(submission.update);
  const same = state.outstanding.get(key) ?? [];
  if (same.some(({ id }) => id === submission.id)) return [state, [done]];
  const outstanding = new Map(state.outstanding).set(key, [...same, submission]);
  const next = { ...state, outstanding, lateFrom: Math.min(state.lateFrom, lateAt(submission)) };
  return [next, same.length > 0 ? [done] : [{ kind: 'send', submission }, done]];
}

/** What is said of an attempt that sends nothing: `end`, unless an earlier attempt sent the update. */
function unsent(state: DeliveryState, submission: Submission, end: DeliveryEffect): DeliveryEffect[] {
  const known = answerTo(state.answers, submission);
  if (known) return [{ kind: 'publish', submission, answer: known }];
  const same = state.outstanding.get(updateKey(submission.update)) ?? [];
  if (same.some(({ id }) => id === submission.id)) return [];
  return [state.sentBefore.has(submission.id) ? unanswered(submission) : end];
}

function heard(state: DeliveryState, acknowledgement: Acknowledgement | null, { now }: Moment): Step {
  const submissions = acknowledgement && state.outstanding.get(acknowledgement.key);
  if (!acknowledgement || !submissions) return [state, []];
  const { key, answer } = acknowledgement;
  const outstanding = new Map(state.outstanding);
  outstanding.delete(key);
  const answers = withAnswer(state.answers, submissions, answer, now);
  return [
    { ...state, outstanding, answers },
    submissions.map((submission) => ({ kind: 'publish', submission, answer })),
  ];
}

/** Drops, gives back or begins what waits. */
function withWaiting(state: DeliveryState, moment: Moment): Step {
  const isWaiting = !moment.isOpen && maySend(state, moment);
  const effects = state.waiting.flatMap((submission): DeliveryEffect[] => {
    const done = { kind: 'done', submission } as const;
    const dropped = { kind: 'note', submission, end: 'dropped' } as const;
    if (moment.now >= dropAt(submission)) return [...unsent(state, submission, dropped), done];
    if (isWaiting) return [];
    return [{ kind: maySend(state, moment) ? 'admit' : 'giveBack', submission }];
  });
  if (effects.length === 0) return [state, []];
  const waiting = isWaiting ? state.waiting.filter((each) => moment.now < dropAt(each)) : [];
  return [{ ...state, waiting }, effects];
}

/** Ends late updates. When the builder sent nothing for as long as one may take, the connection is replaced. */
function withoutLate(state: DeliveryState, { now, isOpen }: Moment): Step {
  if (now < state.lateFrom) return [state, []];
  const isLate = (submission: Submission) => now >= deadlineMs(submission);
  const kept = [...state.outstanding].map(([key, all]) => [key, all.filter((each) => !isLate(each))] as const);
  const outstanding = new Map(kept.filter(([, all]) => all.length > 0));
  const lateFrom = inFlight(outstanding).reduce((at, each) => Math.min(at, lateAt(each)), NEVER);
  const ends: DeliveryEffect[] = inFlight(state.outstanding).filter(isLate).map(unanswered);
  // A last sign in the future is from before the clock stepped back.
  const isSilent = now < state.lastSignAt || now - state.lastSignAt >= ACKNOWLEDGE_WITHIN_MS;
  const isTimedOut = ends.length > 0 && isOpen && isSilent;
  return [{ ...state, outstanding, lateFrom }, isTimedOut ? [...ends, { kind: 'reconnect' }] : ends];
}

/** Closes the connection of a delivery that stops, once nothing is in flight or its grace is over. */
function closed(state: DeliveryState, { now }: Moment): Step {
  const { closeAt, isClosed, outstanding } = state;
  if (isClosed || closeAt === null || (outstanding.size > 0 && now < closeAt)) return [state, []];
  const effects = [{ kind: 'close' } as const, ...inFlight(outstanding).map(unanswered)];
  return [{ ...state, ...NOTHING_SENT, isClosed: true }, effects];
}

const inFlight = (outstanding: DeliveryState['outstanding']): Submission[] => [...outstanding.values()].flat();
const unanswered = (submission: Submission) => ({ kind: 'note', submission, end: 'unanswered' }) as const;
