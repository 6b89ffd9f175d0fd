import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { PendingState, StateOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import { MAX_AHEAD } from './frame-merger.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** The times of a chain with live sources, milliseconds. */
export interface LivePace {
  readonly blockTimeMs: number;
  /** How long overrides are used after their source sent them. */
  readonly maxAgeMs: number;
}

/** What is known of the chain and its sources when something happens. */
export interface LiveInputs {
  /** The committed head to build on. */
  readonly committed: ReportedHead | undefined;
  /** Height of the newest block that was seen. */
  readonly top: bigint;
  readonly overrides: PendingOverrides | undefined;
  /** The accounts whose overrides no source may replace; undefined while they are unknown: no overrides are used. */
  readonly protectedAccounts: ReadonlySet<Address> | undefined;
  /** When sources last sent the overrides of this digest, whenever it is called; undefined once they send others. */
  readonly renewedAt: (digest: string) => number | undefined;
}

/** What happened. `asked`: a request needs a head. `frame`: a source sent one. `time`: nothing but that time passed. */
export type LiveEvent =
  | { readonly kind: 'asked' | 'time'; readonly inputs: LiveInputs }
  | { readonly kind: 'committed'; readonly branch: ChainTail; readonly inputs: LiveInputs }
  | { readonly kind: 'frame' | 'watched' | 'unwatched' }
  /** Nodes refused or ignored the overrides. */
  | { readonly kind: 'rejected'; readonly by: 'refused' | 'ignored' };

/** A head that was taken. */
interface LiveHead {
  readonly committed: ReportedHead;
  /** The committed head, or the block that is being built on it. */
  readonly head: ReportedHead;
  readonly takenAt: number;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface LiveHeadState {
  readonly taken: LiveHead | undefined;
  readonly branch: ChainTail | undefined;
  /** The highest block that was taken as being built on this branch. */
  readonly highest: bigint;
  /** What listeners have: requests may have had another head since, also one and this again. */
  readonly announced: LiveHead | undefined;
  readonly announcedAt: number;
  readonly watchers: number;
  readonly suspendedUntil: number;
  /** When a `time` is needed; null: never. */
  readonly wakeAt: number | null;
}

/** What there is to do. */
export interface LiveEffects {
  readonly announce: { readonly head: ReportedHead; readonly branch: ChainTail } | null;
  /** Whether nodes began to reject overrides. */
  readonly isSuspended: boolean;
}

/** Shortest time between two states of the same committed block that are taken, and that listeners get. */
const TAKE_MS = 100;
export const ANNOUNCE_MS = 250;
/** For this long overrides are not used after nodes refused them, or ignored them. */
const SUSPENDED_MS = { refused: 1_000, ignored: 60_000 } as const;

export const noLiveHead: LiveHeadState = {
  taken: undefined,
  branch: undefined,
  highest: -1n,
  announced: undefined,
  announcedAt: Number.NEGATIVE_INFINITY,
  watchers: 0,
  suspendedUntil: Number.NEGATIVE_INFINITY,
  wakeAt: null,
};
const NOTHING: LiveEffects = { announce: null, isSuspended: false };

/**
 * The block that is being built, as a head: the committed head with the overrides of sources on top. Without overrides that
 * hold, it is the committed head.
 *
 * Invariants:
 * 1. The block being built is above all blocks that were seen, and at most two above the committed head. Its number never
 *    goes back unless the chain does.
 * 2. Its overrides are younger than `maxAgeMs`, and none is of a protected account.
 * 3. A new committed head replaces it at once.
 * 4. The same state gives the same object. Of one committed head, the next state is taken after `TAKE_MS`, unless the block
 *    being built changes or ends.
 * 5. While anyone watches, listeners get a state that changed at most `ANNOUNCE_MS` later, and hear within that time of
 *    overrides that became too old. Of one committed head they get none sooner after the last.
 */
export function nextLiveHead(
  before: LiveHeadState,
  event: LiveEvent,
  now: number,
  pace: LivePace,
): readonly [LiveHeadState, LiveEffects] {
  switch (event.kind) {
    case 'asked':
      return [taken(before, event.inputs, now, pace), NOTHING];
    case 'time':
      return announced(before, event.inputs, now, pace);
    case 'committed':
      return announced({ ...before, branch: event.branch }, event.inputs, now, pace);
    case 'frame':
      return [before.watchers > 0 ? { ...before, wakeAt: before.announcedAt + ANNOUNCE_MS } : before, NOTHING];
    case 'watched':
      return [{ ...before, watchers: before.watchers + 1 }, NOTHING];
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

/** Whether a block may be the one that is being built on a committed block, and its overrides are young. */
export function holds(
  { blockNumber, receivedAt }: Pick<PendingState, 'blockNumber' | 'receivedAt'>,
  on: { readonly number: bigint; readonly top: bigint; readonly highest: bigint },
  now: number,
  { maxAgeMs }: LivePace,
): boolean {
  const isAhead = blockNumber > on.number && blockNumber > on.top && blockNumber - on.number <= MAX_AHEAD;
  return isAhead && blockNumber >= on.highest && now - receivedAt < maxAgeMs;
}

/** Takes the head as it is now. */
function taken(before: LiveHeadState, inputs: LiveInputs, now: number, pace: LivePace): LiveHeadState {
  const { committed, top, protectedAccounts } = inputs;
  if (!committed) return before;
  const { number } = committed.block;
  const last = before.taken?.committed === committed ? before.taken : undefined;
  const wentBack = !last && before.taken !== undefined && number <= before.taken.committed.block.number;
  const highest = wentBack ? -1n : before.highest;
  const mayHold = (pending: Pick<PendingState, 'blockNumber' | 'receivedAt'>) =>
    holds(pending, { number, top, highest }, now, pace);
  const isUsable = protectedAccounts !== undefined && now >= before.suspendedUntil;
  const overrides = isUsable && inputs.overrides && mayHold(inputs.overrides) ? inputs.overrides : undefined;
  if (last) {
    const { pending } = last.head.block;
    if (pending?.digest === overrides?.digest) return before;
    const isSameBlock = pending !== undefined && pending.blockNumber === overrides?.blockNumber;
    if (isSameBlock && now - last.takenAt < TAKE_MS && mayHold(pending)) return before;
  }
  if (!overrides) return { ...before, highest, taken: { committed, head: committed, takenAt: now } };
  const pending = pendingOn(committed.block, overrides, inputs, pace);
  const head = { ...committed, block: { ...committed.block, pending } };
  return { ...before, highest: overrides.blockNumber, taken: { committed, head, takenAt: now } };
}

/** Gives listeners the head as it is now, and again when its overrides become too old. */
function announced(
  before: LiveHeadState,
  inputs: LiveInputs,
  now: number,
  pace: LivePace,
): readonly [LiveHeadState, LiveEffects] {
  const state = { ...taken(before, inputs, now, pace), wakeAt: null };
  const { branch, watchers } = state;
  if (!inputs.committed || !branch || !state.taken) return [state, NOTHING];
  const { head } = state.taken;
  const isNew = state.taken !== state.announced;
  const { pending } = head.block;
  const wakeAt = pending && watchers > 0 ? Math.max(now + ANNOUNCE_MS, pending.receivedAt + pace.maxAgeMs) : null;
  const next = { ...state, wakeAt, ...(isNew && { announced: state.taken, announcedAt: now }) };
  return [next, { ...NOTHING, announce: isNew ? { head, branch } : null }];
}

/** What is built on a committed block. */
function pendingOn(
  { number, timestamp }: BlockRef,
  overrides: PendingOverrides,
  { protectedAccounts, renewedAt }: LiveInputs,
  { blockTimeMs }: LivePace,
): PendingState {
  const isUsable = (account: Address) => !protectedAccounts?.has(account);
  const usable = (all: StateOverrides): StateOverrides => new Map([...all].filter(([account]) => isUsable(account)));
  const { blockNumber, digest, republished } = overrides;
  const secsAhead = Math.round((Number(blockNumber - number) * blockTimeMs) / 1_000);
  let { receivedAt } = overrides;
  return {
    blockNumber,
    timestamp: overrides.timestamp ?? timestamp + BigInt(secsAhead),
    overrides: usable(overrides.overrides),
    republished: republished && new Map([...republished].map(([venue, all]) => [venue, usable(all)])),
    digest,
    get receivedAt() {
      receivedAt = renewedAt(digest) ?? receivedAt;
      return receivedAt;
    },
  };
}
