import type { BlockHeader } from '../../chain/read-context.ts';

/** Who reads a block for all processes: this one, another, or each for itself. */
export type BlockReader = 'own' | 'other' | 'each';

export interface BlockClaim {
  readonly block: BlockHeader;
  /** Until it is decided who reads, each reads for itself. */
  readonly reader: BlockReader;
  /** When the block was first wanted, or heard of. */
  readonly since: number;
  /** When this process last knew that it holds the block. */
  readonly heldAt: number;
}

/** All times are of one clock, milliseconds. */
export interface ReadersState {
  /** The last blocks, by the state that is read there. */
  readonly claims: ReadonlyMap<string, BlockClaim>;
  /** The last of them that processes share. */
  readonly current: string | null;
  /** Who read the last block. */
  readonly lastReader: 'own' | 'other' | null;
  /** Until when other processes come first, since the nodes of this one failed. */
  readonly asideUntil: number;
}

/**
 * What happened. `answered`: what Redis said of a claim; `failed` also when it said nothing. `askedAt`:
 * when it was asked. `comesFirst`: whether this process knows more of the block than others; undefined: as they do.
 */
export type ReadersEvent =
  | {
      readonly kind: 'wanted';
      readonly state: string;
      readonly block: BlockHeader;
      readonly isAlone: boolean;
      readonly comesFirst?: boolean | undefined;
    }
  | { readonly kind: 'waited'; readonly state: string; readonly isPublished: boolean }
  | {
      readonly kind: 'answered';
      readonly state: string;
      readonly answer: 'taken' | 'held' | 'over' | 'failed';
      readonly askedAt: number;
    }
  | { readonly kind: 'renewed'; readonly state: string; readonly askedAt: number }
  | { readonly kind: 'heard'; readonly state: string; readonly block: BlockHeader }
  | { readonly kind: 'ended'; readonly state: string }
  | { readonly kind: 'nodesFailed' }
  | { readonly kind: 'tick'; readonly isAwaited: boolean };

/** What to do. After `wait`, `waited` is to follow; `answered` and `renewed` after `take` and `renew`. */
export type ReadersEffect =
  | { readonly kind: 'wait'; readonly state: string; readonly ms: number }
  | { readonly kind: 'take' | 'renew' | 'end'; readonly state: string };

/** A block stays taken this long, unless the process that took it renews the claim. */
export const CLAIM_MS = 1_000;
/** How often a `tick` is to come. */
export const TICK_MS = 250;
/** A process that did not read the last block waits before it claims one, so that readers change rarely. */
export const AFTER_OTHERS_MS = 30;
/** It waits longer for a while after its nodes failed. */
export const AFTER_FAILURE_MS = 200;
const ASIDE_MS = 10_000;
/** Longest wait for what another process reads. */
export const MAX_WAIT_MS = 2_000;
/** After a part of a block: the next one comes before a process that is gone would be noticed. */
export const MAX_PART_WAIT_MS = 300;
const MAX_BLOCKS = 8;

export const NO_READERS: ReadersState = {
  claims: new Map(),
  current: null,
  lastReader: null,
  asideUntil: Number.NEGATIVE_INFINITY,
};

/**
 * What is known of who reads blocks, and what is to be done, when something happens.
 *
 * 1. A process reads a block for all only after Redis gave it the block.
 * 2. A block that another process published is not taken; one whose reader is gone is, while it is awaited.
 * 3. A claim is renewed while this process surely holds it: not after it stood still for as long as a claim lasts.
 * 4. Without an answer of Redis, and while there are no other processes, each reads for itself.
 */
export function nextReaders(
  state: ReadersState,
  event: ReadersEvent,
  now: number,
): readonly [ReadersState, ReadersEffect | null] {
  switch (event.kind) {
    case 'wanted':
      return wanted(state, event, now);
    case 'waited':
      if (!event.isPublished) return [state, { kind: 'take', state: event.state }];
      return [changed(state, event.state, { reader: 'other' }), null];
    case 'answered':
      return [answered(state, event), null];
    case 'renewed':
      return [changed(state, event.state, { heldAt: event.askedAt }), null];
    case 'heard': {
      const heard = { ...state, lastReader: 'other' as const };
      // A process that published a block before this one wanted it holds the block.
      return [state.claims.has(event.state) ? heard : withClaim(heard, event, 'other', now), null];
    }
    case 'ended': {
      if (state.claims.get(event.state)?.reader !== 'own') return [state, null];
      return [changed(state, event.state, { reader: 'each' }), { kind: 'end', state: event.state }];
    }
    case 'nodesFailed':
      return [{ ...state, lastReader: null, asideUntil: now + ASIDE_MS }, null];
    case 'tick':
      return [state, dueAt(state, event.isAwaited, now)];
  }
}

/** For how long what another process reads at a block may still come, milliseconds; 0 or less: it will not. */
export function awaitableMs(claim: BlockClaim | undefined, now: number): number {
  if (claim?.reader !== 'other') return 0;
  return claim.since + (claim.block.pending?.part ? MAX_PART_WAIT_MS : MAX_WAIT_MS) - now;
}

/** Whether this process surely holds a block that it took. */
export const isHeld = ({ reader, heldAt }: BlockClaim, now: number): boolean =>
  reader === 'own' && now - heldAt < CLAIM_MS;

function wanted(state: ReadersState, event: ReadersEvent & { kind: 'wanted' }, now: number) {
  const { state: name, isAlone } = event;
  if (state.claims.has(name)) return [state, null] as const;
  const next = withClaim(state, event, 'each', now);
  if (isAlone) return [{ ...next, current: state.current }, null] as const;
  const isAside = now < state.asideUntil;
  const isNext = event.comesFirst === undefined ? state.lastReader === 'own' : event.comesFirst && !isAside;
  if (isNext) return [next, { kind: 'take', state: name }] as const;
  const ms = isAside ? AFTER_FAILURE_MS : AFTER_OTHERS_MS;
  return [next, { kind: 'wait', state: name, ms }] as const;
}

function answered(state: ReadersState, { state: name, answer, askedAt }: ReadersEvent & { kind: 'answered' }) {
  const reader = answer === 'failed' ? 'each' : answer === 'taken' ? 'own' : 'other';
  const next = changed(state, name, { reader, heldAt: askedAt });
  return answer === 'taken' ? { ...next, lastReader: 'own' as const } : next;
}

/**
 * The blocks that this process took and still holds, without the last one. Parts are left out: processes wait for them
 * for a fraction of a second only.
 */
export function heldBefore({ claims, current }: ReadersState, now: number): BlockHeader[] {
  return [...claims].flatMap(([state, claim]) => {
    const isAwaited = state !== current && !claim.block.pending?.part;
    return isAwaited && isHeld(claim, now) ? [claim.block] : [];
  });
}

/** Whether no tick has anything to do until there is another block. */
export function isOver({ claims, current }: ReadersState, now: number): boolean {
  const claim = current === null ? undefined : claims.get(current);
  return !claim || now - claim.since >= MAX_WAIT_MS;
}

/** What a tick has to do about the last block. */
function dueAt(state: ReadersState, isAwaited: boolean, now: number): ReadersEffect | null {
  const { claims, current } = state;
  const claim = current === null ? undefined : claims.get(current);
  if (current === null || !claim || isOver(state, now)) return null;
  if (isHeld(claim, now)) return { kind: 'renew', state: current };
  return claim.reader === 'other' && isAwaited ? { kind: 'take', state: current } : null;
}

function withClaim(
  before: ReadersState,
  { state, block }: { readonly state: string; readonly block: BlockHeader },
  reader: BlockReader,
  now: number,
): ReadersState {
  const claim = { block, reader, since: now, heldAt: Number.NEGATIVE_INFINITY };
  const claims = new Map([...before.claims, [state, claim] as const].slice(-MAX_BLOCKS));
  return { ...before, claims, current: state };
}

function changed(state: ReadersState, name: string, change: Partial<BlockClaim>): ReadersState {
  const claim = state.claims.get(name);
  return claim ? { ...state, claims: new Map(state.claims).set(name, { ...claim, ...change }) } : state;
}
