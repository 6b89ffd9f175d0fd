import type { Hex } from 'viem';
import type { BlockRef } from '../read-context.ts';

/** What happened. `time`: nothing but that time passed. */
export type PushEvent =
  /** A socket pushed a head. `source`: its index. `wallMs`: now, as Unix milliseconds. */
  | { readonly kind: 'pushed'; readonly source: number; readonly block: BlockRef; readonly wallMs: number }
  /** A connection of a source ended: behind the same URL, the next one may be to another node. */
  | { readonly kind: 'ended'; readonly source: number }
  /** Nodes have a block that was pushed. */
  | { readonly kind: 'checked'; readonly block: BlockRef; readonly isBack: boolean }
  /** A poll gave a head: lower heads that a socket pushes after it are late. */
  | { readonly kind: 'polled'; readonly block: BlockRef }
  | { readonly kind: 'time' };

interface Source {
  /** Height and hash of the last head that it pushed, and how often in a row this height got another hash at once. */
  readonly height: bigint;
  readonly hash: Hex | null;
  readonly changes: number;
  /** Whether that height got one hash only so far, and how many heights in a row did before. */
  readonly hasOneHash: boolean;
  readonly oneHashHeights: number;
  /** Until when nothing that it pushes counts, since it pushes blocks that are not sealed. */
  readonly partsUntil: number;
  /** When it last pushed one, or was dialled. */
  readonly heardAt: number;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface PushState {
  readonly sources: readonly Source[];
  /** Hashes of the last blocks that were news. */
  readonly known: readonly Hex[];
  readonly highest: bigint;
  /** When a head was last news. */
  readonly pushedAt: number;
}

export interface PushPace {
  readonly blockTimeMs: number;
  /** Whether nodes are asked for every head that is pushed. */
  readonly checksAll: boolean;
}

export interface PushEffects {
  /** Whether the head is passed on. */
  readonly isNews: boolean;
  /** The pushed head, to be passed on if nodes have it: then `checked` is to follow. */
  readonly toCheck: Omit<PushEvent & { readonly kind: 'checked' }, 'kind'> | null;
  /** Sources to be dialled again. */
  readonly dead: readonly number[];
  /** When it needs a `time`. */
  readonly wakeAt: number;
}

/**
 * A socket that pushes no head for this long, and for this many block times, counts as dead and is dialled again. A
 * block that is older than that does not count as a head: its node still loads the chain.
 */
const DEAD_AFTER_MS = 30_000;
const DEAD_AFTER_BLOCKS = 10;
/** A feed without a head for this long, and for this many block times, does not replace polls. */
const STALE_AFTER_MS = 1_000;
const STALE_AFTER_BLOCKS = 2;
const REMEMBERED_HASHES = 256;
/**
 * Nodes that follow the parts of a block push it each 200 ms, each time with another hash: two changes,
 * each within this time.
 */
const AT_ONCE_MS = 500;
const CHANGES = 2;
/** For so long after such a block nothing counts that its source pushes. */
const PARTS_MS = 600_000;

const deadAfterMs = (blockTimeMs: number): number => Math.max(DEAD_AFTER_MS, DEAD_AFTER_BLOCKS * blockTimeMs);

/** A source that pushed one hash only of so many heights in a row does not push parts. */
const PROVEN_HEIGHTS = 2;

const NEW_SOURCE = {
  height: -1n,
  hash: null,
  changes: 0,
  hasOneHash: false,
  oneHashHeights: 0,
  partsUntil: Number.NEGATIVE_INFINITY,
};

/** The state of sockets that are dialled now. */
export const newPushState = (sources: number, now: number): PushState => ({
  sources: Array.from({ length: sources }, () => ({ ...NEW_SOURCE, heardAt: now })),
  known: [],
  highest: -1n,
  pushedAt: Number.NEGATIVE_INFINITY,
});

/** Whether a socket pushed a new head within two block times, at least a second. */
export const isFeedLive = ({ pushedAt }: PushState, now: number, blockTimeMs: number): boolean =>
  now - pushedAt < Math.max(STALE_AFTER_MS, STALE_AFTER_BLOCKS * blockTimeMs);

/**
 * What is known of the heads that the sockets of a chain's nodes push, when something happens.
 *
 * 1. A block is news once.
 * 2. A block no higher than the highest is news only from a source that has pushed its height or a higher one before:
 *    the chain of that source was reorganised, while other sources lag. Which branch counts is decided by who takes the
 *    heads: `HeadTracker` of quotes, or Ponder.
 * 3. Nothing is news from a source that pushed three hashes of one height at once, until it did not for `PARTS_MS`: it
 *    shows blocks while they are built. They are not heads.
 * 4. Until a connection pushed `PROVEN_HEIGHTS` heights in a row with one hash each, or while all are to be checked, a
 *    head is news only once nodes have it: it may be a part of a block, of which no node has the hash.
 * 5. A source is dialled again whenever it pushed no head for as long as a dead one.
 *
 * @param pace `checksAll`: whether all heads are to be checked
 */
export function nextPushed(
  state: PushState,
  event: PushEvent,
  now: number,
  pace: PushPace,
): readonly [PushState, PushEffects] {
  const { blockTimeMs } = pace;
  const [happened, { isNews = false, toCheck = null }] = withEvent(state, event, now, pace);
  const deadAt = ({ heardAt }: Source) => heardAt + deadAfterMs(blockTimeMs);
  const dead = happened.sources.flatMap((source, index) => (now >= deadAt(source) ? [index] : []));
  const next = dead.reduce((before, index) => withSource(before, index, { heardAt: now }), happened);
  return [next, { isNews, toCheck, dead, wakeAt: Math.min(...next.sources.map(deadAt)) }];
}

function withEvent(
  state: PushState,
  event: PushEvent,
  now: number,
  { blockTimeMs, checksAll }: PushPace,
): readonly [PushState, Partial<PushEffects>] {
  if (event.kind === 'time') return [state, {}];
  if (event.kind === 'ended') return [withSource(state, event.source, { hasOneHash: false, oneHashHeights: 0 }), {}];
  const { block } = event;
  const { number, hash } = block;
  if (event.kind === 'polled') return [{ ...withKnown(state, hash), highest: maxOf(number, state.highest) }, {}];
  if (event.kind === 'checked') {
    const isLate = number <= state.highest && !event.isBack;
    return isLate || state.known.includes(hash) ? [state, {}] : [withNews(state, block, now), { isNews: true }];
  }
  const isLoading = event.wallMs - Number(block.timestamp) * 1_000 > deadAfterMs(blockTimeMs);
  const source = state.sources[event.source];
  if (isLoading || !source) return [state, {}];
  const changed = nextSource(source, block, now);
  const heard = withSource(state, event.source, changed);
  const isBack = number <= state.highest;
  const isLate = isBack && number > source.height;
  if (now < changed.partsUntil || isLate || state.known.includes(hash)) return [heard, {}];
  const isProven = changed.oneHashHeights >= PROVEN_HEIGHTS;
  if (checksAll || !isProven) return [heard, { toCheck: { block, isBack } }];
  return [withNews(heard, block, now), { isNews: true }];
}

function nextSource(before: Source, { number, hash }: BlockRef, now: number): Source {
  const { height, heardAt, partsUntil } = before;
  const isSame = number === height && now - heardAt < AT_ONCE_MS;
  const changes = isSame ? before.changes + (hash === before.hash ? 0 : 1) : 0;
  const hasOneHash = number !== height || (before.hasOneHash && hash === before.hash);
  const heights = number !== height && before.hasOneHash ? before.oneHashHeights + 1 : before.oneHashHeights;
  const oneHashHeights = hasOneHash ? heights : 0;
  const next = { ...before, height: number, hash, changes, hasOneHash, oneHashHeights, heardAt: now };
  return changes < CHANGES ? next : { ...next, partsUntil: Math.max(partsUntil, now + PARTS_MS) };
}

const maxOf = (one: bigint, other: bigint): bigint => (one > other ? one : other);

const withSource = (state: PushState, changed: number, by: Partial<Source>): PushState => ({
  ...state,
  sources: state.sources.map((source, index) => (index === changed ? { ...source, ...by } : source)),
});

const withNews = (state: PushState, { number, hash }: BlockRef, now: number): PushState => ({
  ...withKnown(state, hash),
  highest: number,
  pushedAt: now,
});

const withKnown = (state: PushState, hash: Hex): PushState => ({
  ...state,
  known: [...state.known.filter((each) => each !== hash), hash].slice(-REMEMBERED_HASHES),
});
