import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import { ChainTail } from './chain-tail.ts';
import { type AwaitedHeight, awaitedHeight, type HeardHeads } from './heard-heads.ts';

export type Headed = { readonly block: BlockHeader };

/** The times of a chain's heads, milliseconds. */
export interface HeadPace {
  readonly blockTimeMs: number;
  /** Shortest time between two polls, and between two heads that are taken. */
  readonly minRefreshMs: number;
  /** A block that is older than this is not used, whatever its source. Default: any is used. */
  readonly maxAgeMs?: number | undefined;
}

/** A head that may be the next one. */
export interface Candidate<H> {
  readonly head: H;
  /** When the next poll is due, if it is taken. */
  readonly dueAt: number;
  readonly isPolled: boolean;
  /** Whether it is wanted although it is lower: the chain went back. */
  readonly isRolledBack: boolean;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface HeadState<H> {
  /** The branches of the last head that was seen, and of the last head that was taken. */
  readonly seen: ChainTail;
  readonly taken: ChainTail;
  /** The last head that was taken, and the one before it. */
  readonly current: H | undefined;
  readonly previous: H | undefined;
  /** Hash of the last head that was read at. */
  readonly readAt: Hex | undefined;
  /** The last heads that gave way to the one before, because nodes refused to read at them. */
  readonly refused: readonly H[];
  /** A newer head, to be taken when the current one is `minRefreshMs` old. */
  readonly next: { readonly head: H; readonly dueAt: number } | undefined;
  /** Heads to be judged one after the other. The first one waits for a block below it, which is being looked up. */
  readonly waiting: readonly Candidate<H>[];
  readonly takenAt: number;
  /** When the next poll is due. A head is used for `GRACE_MS` longer. */
  readonly dueAt: number;
  /** When the last poll began, and the last poll that gave a head. */
  readonly polledAt: number;
  readonly lastPollAt: number;
  /** Since when polls give neither the last head nor a higher one. */
  readonly behindSince: number | undefined;
  /** The poll in flight, with the head of the first node once all nodes are polled. */
  readonly poll: { readonly first: H | undefined } | undefined;
  readonly watchers: number;
  /** The highest block that nodes reported since the chain last went back. */
  readonly reached: bigint;
  readonly heard: HeardHeads;
  /** When another process was last heard. */
  readonly heardAt: number;
  /** The last head that was taken, while other processes are not known to have heard of it. */
  readonly unannounced: H | undefined;
  /** When a socket last pushed a head, and when a head was last taken early. */
  readonly pushedAt: number;
  readonly earlyAt: number;
}

/** For this long after another process was heard it counts as one that reads the chain too. */
const SHARED_MS = 60_000;
/** How long a head may be used without another poll, once the next poll is due. */
export const GRACE_MS = 500;

/** The state before the first head. */
export const noHeads = <H>(): HeadState<H> => ({
  seen: ChainTail.EMPTY,
  taken: ChainTail.EMPTY,
  current: undefined,
  previous: undefined,
  readAt: undefined,
  refused: [],
  next: undefined,
  waiting: [],
  takenAt: Number.NEGATIVE_INFINITY,
  dueAt: Number.NEGATIVE_INFINITY,
  polledAt: Number.NEGATIVE_INFINITY,
  lastPollAt: Number.NEGATIVE_INFINITY,
  behindSince: undefined,
  poll: undefined,
  watchers: 0,
  reached: -1n,
  heard: new Map(),
  heardAt: Number.NEGATIVE_INFINITY,
  unannounced: undefined,
  pushedAt: Number.NEGATIVE_INFINITY,
  earlyAt: Number.NEGATIVE_INFINITY,
});

/** The head that nodes reported recently, however old its block is. */
export const announcedHead = <H>({ current, dueAt }: HeadState<H>, now: number): H | undefined =>
  now < dueAt + GRACE_MS ? current : undefined;

/** Whether a poll is due for a request that waits for it. */
export const isPollDue = <H>({ current, dueAt }: HeadState<H>, now: number): boolean => !current || now >= dueAt;

/** Whether a poll is due to keep a head announced that can be used. In place of any other, those who wait poll. */
export function isRenewalDue<H extends Headed>(
  state: HeadState<H>,
  now: number,
  wallMs: number,
  pace: HeadPace,
): boolean {
  const announced = announcedHead(state, now);
  return announced !== undefined && now >= state.dueAt && !isTooOld(announced.block, wallMs, pace);
}

/** When a poll is due for those who watch; requests see failures, and the next poll comes as if they were none. */
export const watchedPollAt = <H>({ dueAt, polledAt }: HeadState<H>, { minRefreshMs }: HeadPace): number =>
  Math.max(dueAt, polledAt + minRefreshMs);

export const isWatchedPollDue = <H>(state: HeadState<H>, now: number, pace: HeadPace): boolean =>
  state.watchers > 0 && now >= watchedPollAt(state, pace);

/** Height of the head; below all without one. */
export const heightOf = <H extends Headed>({ current }: HeadState<H>): bigint => current?.block.number ?? -1n;

/**
 * The height that another process has come to and a reader may have seen there; null when it is none above the head.
 */
export const awaited = <H extends Headed>(state: HeadState<H>, now: number): AwaitedHeight | null =>
  awaitedHeight(state.heard, heightOf(state), now);

/** Whether requests wait, where other processes read the chain too: until these know of the head, or for own nodes. */
export const isWaitDue = <H extends Headed>(state: HeadState<H>, now: number): boolean =>
  now - state.heardAt < SHARED_MS && (state.unannounced !== undefined || awaited(state, now) !== null);

/** Whether a request need not wait for a height any longer. */
export const isWaitOver = <H extends Headed>(state: HeadState<H>, height: bigint, now: number): boolean =>
  heightOf(state) >= height || awaited(state, now) === null;

/**
 * When the next head may be taken: once in `minRefreshMs` as soon as another process has come as far,
 * so that all take the same heads.
 */
export function takeAt<H extends Headed>(state: HeadState<H>, now: number, { minRefreshMs }: HeadPace): number {
  const { current, next, takenAt, earlyAt } = state;
  if (!current) return Number.NEGATIVE_INFINITY;
  const isAwaited = next && next.head.block.number >= (awaited(state, now)?.number ?? Number.POSITIVE_INFINITY);
  return isAwaited ? Math.min(takenAt, earlyAt) + minRefreshMs : takenAt + minRefreshMs;
}

/** The last head that was seen and is wanted. */
export const lastHead = <H>({ next, current }: HeadState<H>): H | undefined => next?.head ?? current;

/** Age of a block by wall-clock time, milliseconds. @param wallMs now, as Unix milliseconds */
export const ageMs = ({ timestamp }: BlockRef, wallMs: number): number => wallMs - Number(timestamp) * 1_000;

/** Whether a block is too old to be used. @param wallMs now, as Unix milliseconds */
export const isTooOld = (block: BlockRef, wallMs: number, { maxAgeMs }: HeadPace): boolean =>
  ageMs(block, wallMs) > (maxAgeMs ?? Number.POSITIVE_INFINITY);

/** What there is to do, in this order. */
export interface HeadEffects<H> {
  /** What the poll that ended gives to those who wait for it. A poll that `failed` has ended too. */
  readonly polled: H | null;
  /** Whether to poll one node, or all others: `polled` or `failed` must follow. */
  readonly poll: 'one' | 'others' | null;
  /** A block to look up: `header` must follow. */
  readonly lookUp: Pick<BlockRef, 'hash' | 'number'> | null;
  /** Heads that were taken, for listeners. */
  readonly taken: readonly { readonly head: H; readonly branch: ChainTail }[];
  /** When it needs a `time`; infinite while it waits for another event. Null: nobody watches. */
  readonly wakeAt: number | null;
}

/** A state on its way through an event. */
export interface Step<H> {
  readonly state: HeadState<H>;
  readonly effects: HeadEffects<H>;
  readonly now: number;
  readonly pace: HeadPace;
}
