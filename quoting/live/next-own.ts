import type { Address } from 'viem';
import { blockAfter, type StateOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { Frame } from './frame.ts';
import type { OwnUpdate } from './own-update.ts';
import {
  beginTrace,
  isGoodFor,
  type OwnSender,
  type OwnSenders,
  type OwnTrace,
  venueOf,
  withFailedTrace,
  withoutExpired,
  withTraced,
  withUpdate,
  writtenAt,
} from './own-updates.ts';

/** What happened, and the head as it was announced; undefined while there is none. */
export type OwnEvent = { readonly head: BlockRef | undefined } & (
  | { readonly kind: 'update'; readonly update: OwnUpdate }
  /** Time passed. `canTrace`: whether nodes find writes. */
  | { readonly kind: 'time'; readonly canTrace: boolean }
  /** A trace found what its update writes; undefined where that cannot be used. */
  | { readonly kind: 'traced'; readonly trace: OwnTrace; readonly overrides: StateOverrides | undefined }
  | { readonly kind: 'failed'; readonly trace: OwnTrace }
);

/** All times are of one clock that never goes back, milliseconds. */
export interface OwnState {
  readonly senders: OwnSenders;
  /** How many traces are in flight. */
  readonly tracing: number;
  /** When the last frame was sent, and its venues with overrides. */
  readonly sentAt: number;
  readonly sent: readonly Address[];
  readonly polledAt: number;
}

/** What there is to do. */
export interface OwnEffects {
  readonly frame: Frame | null;
  /** A trace to make: `traced` or `failed` must follow. */
  readonly trace: OwnTrace | null;
  /** Whether to poll the head: no request of a client does. */
  readonly poll: boolean;
}

const MAX_TRACING = 4;
/** How often overrides that still hold are sent again. */
const RENEW_MS = 250;
/** After a trace that failed; and between two polls. */
const RETRY_MS = 1_000;
const NOTHING: OwnEffects = { frame: null, trace: null, poll: false };

export const noUpdates: OwnState = {
  senders: new Map(),
  tracing: 0,
  sentAt: Number.NEGATIVE_INFINITY,
  sent: [],
  polledAt: Number.NEGATIVE_INFINITY,
};

/** Whether nothing is to be done as time passes: updates that cancel others are traced at no head. */
export const isIdle = ({ senders, sent }: OwnState): boolean => sent.length === 0 && !senders.values().some(isTraced);

const isTraced = ({ slots }: OwnSender): boolean => slots.values().some(({ update }) => update.tx !== '0x');

/**
 * What quote updates that pass through this service write in the block after the committed head, as frames of a source.
 *
 * 1. An update is traced once at each head that it is good for, four in all at a time,
 *    and of a sender one and those that have expired.
 * 2. A frame has all that updates write after its head, and without overrides the venues of the last frame that write
 *    nothing any more. It says nothing of others that the process which read the source before knew: what they write
 *    holds until it is too old.
 * 3. A frame comes once a trace is over, once an update ends another one,
 *    and every `RENEW_MS` while anything is written.
 */
export function nextOwn(
  before: OwnState,
  event: OwnEvent,
  now: number,
  blockTimeMs: number,
): readonly [OwnState, OwnEffects] {
  const { head } = event;
  switch (event.kind) {
    case 'update': {
      const { update } = event;
      const senders = withUpdate(before.senders, update, now);
      const isNew = senders !== before.senders;
      const state = { ...before, senders };
      // The overrides of the update that it replaces end.
      const ends = isNew && head && !isGoodFor(update, blockAfter(head, blockTimeMs));
      return ends ? withFrame(state, head, now, [venueOf(update)]) : [state, NOTHING];
    }
    case 'time':
      return withTime(before, event, now, blockTimeMs);
    case 'traced': {
      const senders = withTraced(before.senders, event.trace, event.overrides);
      return withFrame({ ...before, senders, tracing: before.tracing - 1 }, head, now);
    }
    case 'failed': {
      const senders = withFailedTrace(before.senders, event.trace, now + RETRY_MS);
      return [{ ...before, senders, tracing: before.tracing - 1 }, NOTHING];
    }
  }
}

function withTime(
  before: OwnState,
  { head, canTrace }: OwnEvent & { readonly kind: 'time' },
  now: number,
  blockTimeMs: number,
): readonly [OwnState, OwnEffects] {
  if (isIdle(before)) return [before, NOTHING];
  if (!head) {
    const isDue = now - before.polledAt >= RETRY_MS;
    return isDue
      ? [
          { ...before, polledAt: now },
          { ...NOTHING, poll: true },
        ]
      : [before, NOTHING];
  }
  const target = blockAfter(head, blockTimeMs);
  const kept = { ...before, senders: withoutExpired(before.senders, target, now) };
  const [state, effects] = now - before.sentAt >= RENEW_MS ? withFrame(kept, head, now) : ([kept, NOTHING] as const);
  const next = canTrace && state.tracing < MAX_TRACING ? beginTrace(state.senders, head.hash, target, now) : undefined;
  if (!next) return [state, effects];
  return [
    { ...state, senders: next.senders, tracing: state.tracing + 1 },
    { ...effects, trace: next.trace },
  ];
}

/** @param ended venues that may be known to the process that read the source before, and to no other */
function withFrame(
  state: OwnState,
  head: BlockRef | undefined,
  now: number,
  ended: readonly Address[] = [],
): readonly [OwnState, OwnEffects] {
  if (!head) return [state, NOTHING];
  const written = writtenAt(state.senders, head.hash);
  const without = [...ended, ...state.sent].filter((venue) => !written.has(venue));
  if (written.size + without.length === 0) return [state, NOTHING];
  const venues = new Map([...without.map((venue): [Address, StateOverrides] => [venue, new Map()]), ...written]);
  const frame = { blockNumber: head.number + 1n, timestamp: null, venues, isComplete: false };
  return [
    { ...state, sent: [...written.keys()], sentAt: now },
    { ...NOTHING, frame },
  ];
}
