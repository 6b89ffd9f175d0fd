import type { Frame } from './frame.ts';
import { fromShared, rankFrames, type SharedOverrides, toShared } from './shared-overrides.ts';
import { nextParts, noParts, type SourceName, usedParts } from './source-parts.ts';
import { mergeBlock, openBlock, type PendingOverrides, type SourcedBlock, withParts } from './sourced-block.ts';

/** What became of a frame: `late` ones are of a block that was seen, `ahead` ones of one too high. */
export type FrameOutcome = 'used' | 'late' | 'ahead';

/** How far above the head a block may be built: as a rule it is the next one, for a moment that after it. */
export const MAX_AHEAD = 2n;
/** Those that may be built, and the one below. */
const MAX_BLOCKS = 3;

/** What all sources of a chain sent. */
export interface MergedFrames {
  /** By number, the one sent longest ago first. */
  readonly blocks: ReadonlyMap<bigint, SourcedBlock>;
  /** How many frames arrived. */
  readonly frames: number;
}

/** Height of the newest block that was seen; undefined while it is not known. */
type Top = bigint | undefined;

/**
 * What arrived: `frame` from a source; `shared` from the process that reads the sources for all, in place of all that
 * is known of these sources and blocks.
 */
export type MergeEvent =
  | { readonly kind: 'frame'; readonly source: SourceName; readonly frame: Frame; readonly top: Top }
  | { readonly kind: 'shared'; readonly blocks: SharedOverrides<SourceName> };

export const noFrames: MergedFrames = { blocks: new Map(), frames: 0 };

/**
 * Merges the frames of all sources of a chain, block by block.
 *
 * Invariants:
 * 1. All overrides of {@link pendingOverrides} are of one block number. A frame changes nothing of other numbers: a
 *    source that leaps costs no overrides of the block that others build.
 * 2. They are of the block after the newest that was seen. They are of the one after that only when sources sent this
 *    one, and none the former, for `maxAgeMs`: then the head is late.
 * 3. A venue's overrides that its source did not renew within `maxAgeMs` are left out.
 *
 * {@link mergeBlock} and {@link nextParts} say which of different overrides counts.
 *
 * @param maxAgeMs how long a venue's overrides are used after they arrived
 */
export function nextMerged(
  before: MergedFrames,
  event: MergeEvent,
  now: number,
  maxAgeMs: number,
): readonly [MergedFrames, FrameOutcome] {
  if (event.kind === 'shared') return [withShared(before, event.blocks, now), 'used'];
  const { source, frame, top } = event;
  const { blockNumber } = frame;
  if (top !== undefined && blockNumber <= top) return [before, 'late'];
  if (top !== undefined && blockNumber > top + MAX_AHEAD) return [before, 'ahead'];
  const order = before.frames + 1;
  const block = blockOf(before, blockNumber, now);
  const below = blockBelow(before, blockNumber)?.sources.get(source.id);
  const arrived = { frame, receivedAt: now, order, below };
  const parts = nextParts(block.sources.get(source.id) ?? noParts(source), arrived, maxAgeMs);
  const blocks = new Map(before.blocks);
  for (const [number, higher] of blocks) if (number > blockNumber) blocks.set(number, { ...higher, aloneSince: now });
  return [{ blocks: renewed(blocks, { ...withParts(block, parts), sentAt: now }), frames: order }, 'used'];
}

/**
 * The overrides of the block that is being built; undefined when no source has any.
 *
 * @param top without it, they are of the highest block
 * @returns them with the state that keeps them: until something changes, the next call gives the same object, and the
 * same `overrides` while only `receivedAt` changes
 */
export function pendingOverrides(
  before: MergedFrames,
  top: Top,
  now: number,
  maxAgeMs: number,
): readonly [MergedFrames, PendingOverrides | undefined] {
  const sent = ascending(before);
  const candidates = top === undefined ? sent.toReversed() : sent.filter((block) => mayBeBuilt(block, top, maxAgeMs));
  let state = before;
  for (const block of candidates) {
    const merged = mergeBlock(block, now, maxAgeMs);
    if (merged !== block) state = { ...state, blocks: new Map(state.blocks).set(block.blockNumber, merged) };
    if (merged.merged?.overrides) return [state, merged.merged.overrides];
  }
  return [state, undefined];
}

/** What sources said of the blocks that may be built, for other processes. */
export function sharedOverrides(
  state: MergedFrames,
  top: Top,
  now: number,
  maxAgeMs: number,
): SharedOverrides<SourceName> {
  const blocks = ascending(state)
    .filter(({ blockNumber }) => top === undefined || blockNumber > top)
    .map(({ sources, ...block }) => {
      const heard = [...sources.values()].filter(({ isHeard }) => isHeard);
      return { ...block, sources: heard.map((each) => ({ ...each, parts: usedParts(each.parts, now, maxAgeMs) })) };
    });
  const ranks = rankFrames(blocks.flatMap(({ sources }) => sources.flatMap(({ parts }) => parts)));
  return blocks.map(({ blockNumber, sentAt, aloneSince, sources }) => ({
    blockNumber,
    ageMs: now - sentAt,
    aloneMs: now - aloneSince,
    sources: sources.map(({ source, parts }) => ({ source, parts: parts.map((part) => toShared(part, now, ranks)) })),
  }));
}

function withShared(before: MergedFrames, shared: SharedOverrides<SourceName>, now: number): MergedFrames {
  let state = before;
  for (const { blockNumber, ageMs, aloneMs, sources } of shared) {
    let block = blockOf(state, blockNumber, now);
    let { frames } = state;
    for (const { source, parts } of sources) {
      const adopted = parts.map((part) => fromShared(part, now, before.frames));
      frames = adopted.reduce((most, { order }) => Math.max(most, order), frames);
      const sent = block.sources.get(source.id) ?? noParts(source);
      block = withParts(block, { ...sent, parts: adopted, isHeard: true });
    }
    block = { ...block, sentAt: now - ageMs, aloneSince: now - aloneMs };
    state = { blocks: renewed(state.blocks, block), frames };
  }
  return state;
}

/** Whether a block may be the one that is being built. */
function mayBeBuilt({ blockNumber, sentAt, aloneSince }: SourcedBlock, top: bigint, maxAgeMs: number): boolean {
  if (blockNumber === top + 1n) return true;
  return blockNumber > top && blockNumber <= top + MAX_AHEAD && sentAt - aloneSince >= maxAgeMs;
}

/** A block as it is known, or begun on the next lower one. */
const blockOf = (state: MergedFrames, number: bigint, now: number): SourcedBlock =>
  state.blocks.get(number) ?? openBlock(number, now, blockBelow(state, number));

/** The next lower block, as far as it is known. */
const blockBelow = (state: MergedFrames, number: bigint): SourcedBlock | undefined =>
  ascending(state).findLast(({ blockNumber }) => blockNumber < number);

/** The blocks with one that was just sent, without the one that was sent longest ago when there are too many. */
function renewed(blocks: MergedFrames['blocks'], block: SourcedBlock): MergedFrames['blocks'] {
  const others = [...blocks].filter(([number]) => number !== block.blockNumber);
  return new Map([...others, [block.blockNumber, block] as const].slice(-MAX_BLOCKS));
}

const ascending = ({ blocks }: MergedFrames): readonly SourcedBlock[] =>
  [...blocks.values()].sort((one, other) => (one.blockNumber < other.blockNumber ? -1 : 1));
