import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { KNOWN_MS } from '../../chain/node-abilities.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import { type LiveHeadState, type LiveInputs, type LivePace, lastReceived, renewed } from './live-head-state.ts';
import type { PendingOverrides } from './sourced-block.ts';
import { takeHead } from './take-head.ts';

/**
 * What happened. `asked`: a request needs a head. `frame`: a source sent one. `merged`: these are the overrides since,
 * which may be the same, sent again. `time`: nothing but that time passed.
 */
export type LiveEvent =
  | { readonly kind: 'asked' | 'time'; readonly inputs: LiveInputs }
  | { readonly kind: 'committed'; readonly branch: ChainTail; readonly inputs: LiveInputs }
  | { readonly kind: 'merged'; readonly overrides: PendingOverrides | undefined }
  | { readonly kind: 'frame' | 'watched' | 'unwatched' }
  /** Nodes refused or ignored the overrides. */
  | { readonly kind: 'rejected'; readonly by: 'refused' | 'ignored' };

/** What there is to do. */
export interface LiveEffects {
  readonly announce: { readonly head: ReportedHead; readonly branch: ChainTail } | null;
  /** Whether nodes began to reject overrides. */
  readonly isSuspended: boolean;
}

/** Shortest time between two states of the same committed block that listeners get. */
export const ANNOUNCE_MS = 250;
/** For this long overrides are not used after nodes refused them, or are known to ignore them. */
const SUSPENDED_MS = { refused: 1_000, ignored: KNOWN_MS } as const;
const NOTHING: LiveEffects = { announce: null, isSuspended: false };

/**
 * The block that is being built, as a head: the committed head with the overrides of sources on top. Without overrides
 * that hold, it is the committed head.
 *
 * Invariants:
 * 1. The block being built is above all blocks that were seen, and at most two above the committed head. Its number
 *    never goes back unless the chain does. A part that is one above the committed head is built on it, as far as nodes
 *    show that.
 * 2. Its overrides are younger than `maxAgeMs`, and none is of a protected account.
 * 3. A new committed head replaces it at once.
 * 4. The same state gives the same object. Of one committed head, the next state is taken after `TAKE_MS`, unless the
 *    block being built changes or ends.
 * 5. While anyone watches, listeners get a state that changed at most `ANNOUNCE_MS` later, and hear within that time of
 *    overrides that became too old. Of one committed head they get none sooner after the last, and none of a head
 *    below the last one, which requests get while nodes refuse that, until the chain goes back.
 * 6. Overrides that are sent again are as young as when they were sent last, also those of a head that was taken
 *    before. This changes no head, and so nothing that is named by it.
 */
export function nextLiveHead(
  before: LiveHeadState,
  event: LiveEvent,
  now: number,
  pace: LivePace,
): readonly [LiveHeadState, LiveEffects] {
  const spacing = pace.spacingMs ?? ANNOUNCE_MS;
  switch (event.kind) {
    case 'asked':
      return [
        waking(takeHead(renewed(before, event.inputs.overrides, now), event.inputs, now, pace), now, spacing),
        NOTHING,
      ];
    case 'time':
      return announced(before, event.inputs, now, pace);
    case 'committed':
      return announced({ ...before, branch: event.branch }, event.inputs, now, pace);
    case 'frame':
      return [before.watchers > 0 ? { ...before, wakeAt: before.announcedAt + spacing } : before, NOTHING];
    case 'merged':
      return [renewed(before, event.overrides, now), NOTHING];
    case 'watched':
      return [waking({ ...before, watchers: before.watchers + 1 }, now, spacing), NOTHING];
    case 'unwatched': {
      const watchers = before.watchers - 1;
      return [{ ...before, watchers, wakeAt: watchers > 0 ? before.wakeAt : null }, NOTHING];
    }
    case 'rejected': {
      const suspendedUntil = now + SUSPENDED_MS[event.by];
      return [
        { ...before, suspendedUntil },
        { ...NOTHING, isSuspended: now >= before.suspendedUntil },
      ];
    }
  }
}

/** Lets a `time` follow where a request took a head that those who watch do not have: it would end for them unseen. */
function waking(state: LiveHeadState, now: number, spacing: number): LiveHeadState {
  const { taken, announced, watchers, wakeAt, announcedAt } = state;
  const isSeen = watchers === 0 || wakeAt !== null || taken === announced;
  return isSeen ? state : { ...state, wakeAt: Math.max(now, announcedAt + spacing) };
}

/** Gives listeners the head as it is now, and again when its overrides become too old. */
function announced(
  before: LiveHeadState,
  inputs: LiveInputs,
  now: number,
  pace: LivePace,
): readonly [LiveHeadState, LiveEffects] {
  const state = { ...takeHead(renewed(before, inputs.overrides, now), inputs, now, pace), wakeAt: null };
  const { branch, watchers } = state;
  if (!inputs.committed || !branch || !state.taken) return [state, NOTHING];
  const { head } = state.taken;
  const nextAt = watchers > 0 ? now + (pace.spacingMs ?? ANNOUNCE_MS) : null;
  if (head.block.hash !== branch.hashAt(branch.top))
    return withoutExpired({ ...state, wakeAt: nextAt }, branch, now, pace);
  const isNew = state.taken !== state.announced;
  const { pending } = head.block;
  const expiresAt = pending && lastReceived(state, pending) + pace.maxAgeMs;
  const wakeAt = expiresAt !== undefined && nextAt !== null ? Math.max(nextAt, expiresAt) : null;
  const next = { ...state, wakeAt, ...(isNew && { announced: state.taken, announcedAt: now }) };
  return [next, { ...NOTHING, announce: isNew ? { head, branch } : null }];
}

/** While nodes refuse the last head, listeners hear only of overrides that became too old. */
function withoutExpired(
  state: LiveHeadState,
  branch: ChainTail,
  now: number,
  { maxAgeMs }: LivePace,
): readonly [LiveHeadState, LiveEffects] {
  const { committed, head: { block: { pending } = {} } = {} } = state.announced ?? {};
  if (!committed || !pending || now < lastReceived(state, pending) + maxAgeMs) return [state, NOTHING];
  const announced = { committed, head: committed, takenAt: now };
  return [
    { ...state, announced, announcedAt: now },
    { ...NOTHING, announce: { head: committed, branch } },
  ];
}
