import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Frame } from './frame.ts';
import { fromShared, rankFrames, type SharedOverrides, toShared } from './shared-overrides.ts';
import { type MergedSource, type PendingOverrides, SourcedBlock } from './sourced-block.ts';

/** What became of a frame: `late` ones are of a block that was seen, `ahead` ones of one too high. */
export type FrameOutcome = 'used' | 'late' | 'ahead';

/** How far above the head a block may be built: as a rule it is the next one, for a moment that after it. */
export const MAX_AHEAD = 2n;
/** Those that may be built, and the one below. */
const MAX_BLOCKS = 3;

/** What sources sent of one block. */
interface SentBlock<S extends MergedSource> {
  readonly overrides: SourcedBlock<S>;
  /** When it was sent last, and since when no lower block was. */
  sentAt: number;
  aloneSince: number;
}

/**
 * Merges the frames of all sources of a chain, block by block. Does no I/O.
 *
 * Invariants:
 * 1. All overrides of a state are of one block number. A frame changes nothing of other numbers: a source that leaps costs no
 *    overrides of the block that others build.
 * 2. The state is of the block after the newest that was seen. It is of the one after that only when sources sent this one,
 *    and none the former, for `maxAgeMs`: then the head is late.
 * 3. A venue's overrides that its source did not renew within `maxAgeMs` are left out.
 *
 * {@link SourcedBlock} says which of different overrides counts.
 */
export class FrameMerger<S extends MergedSource = MergedSource> {
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  /** By number, the one sent longest ago first. */
  readonly #blocks = new Map<bigint, SentBlock<S>>();
  #frames = 0;

  /** @param maxAgeMs how long a venue's overrides are used after they arrived */
  constructor(maxAgeMs: number, now: Clock) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  /**
   * Takes a frame that just arrived.
   *
   * @param source names the source, the same object each time
   * @param top height of the newest block that was seen; undefined while it is not known
   */
  take(source: S, frame: Frame, top: bigint | undefined): FrameOutcome {
    const { blockNumber } = frame;
    if (top !== undefined && blockNumber <= top) return 'late';
    if (top !== undefined && blockNumber > top + MAX_AHEAD) return 'ahead';
    const receivedAt = this.#now();
    this.#frames += 1;
    const below = this.#below(blockNumber);
    const block = this.#renew(blockNumber, below);
    block.overrides.take(source, frame, { receivedAt, order: this.#frames }, below);
    block.sentAt = receivedAt;
    for (const [number, higher] of this.#blocks) if (number > blockNumber) higher.aloneSince = receivedAt;
    return 'used';
  }

  /**
   * What sources said of the blocks that may be built, for the mergers of other processes.
   *
   * @param top as in {@link take}
   */
  shared(top: bigint | undefined): SharedOverrides<S> {
    const now = this.#now();
    const blocks = this.#ascending()
      .filter(([number]) => top === undefined || number > top)
      .map(([blockNumber, { overrides, ...block }]) => ({ blockNumber, ...block, sources: overrides.heard() }));
    const ranks = rankFrames(blocks.flatMap(({ sources }) => sources.flatMap(({ parts }) => parts)));
    return blocks.map(({ blockNumber, sentAt, aloneSince, sources }) => ({
      blockNumber,
      ageMs: now - sentAt,
      aloneMs: now - aloneSince,
      sources: sources.map(({ source, parts }) => ({ source, parts: parts.map((part) => toShared(part, now, ranks)) })),
    }));
  }

  /** Takes what the merger of another process shares, in place of all that is known of these sources and blocks. */
  adopt(blocks: SharedOverrides<S>): void {
    const now = this.#now();
    const frames = this.#frames;
    for (const { blockNumber, ageMs, aloneMs, sources } of blocks) {
      const block = this.#renew(blockNumber, this.#below(blockNumber));
      block.sentAt = now - ageMs;
      block.aloneSince = now - aloneMs;
      for (const { source, parts } of sources) {
        const adopted = parts.map((part) => fromShared(part, now, frames));
        for (const { order } of adopted) this.#frames = Math.max(this.#frames, order);
        block.overrides.replace(source, adopted);
      }
    }
  }

  /**
   * The pending overrides of the block that is being built; undefined when no source has any. The same object as before while
   * nothing changed, the same `overrides` while only `receivedAt` did.
   *
   * @param top as in {@link take}; without it, the overrides are of the highest block
   */
  state(top: bigint | undefined): PendingOverrides | undefined {
    const sent = this.#ascending();
    const blocks = top === undefined ? sent.toReversed() : sent.filter((each) => this.#mayBeBuilt(top, ...each));
    for (const [, { overrides }] of blocks) {
      const state = overrides.state();
      if (state) return state;
    }
    return undefined;
  }

  /** Whether a block may be the one that is being built. */
  #mayBeBuilt(top: bigint, number: bigint, { sentAt, aloneSince }: SentBlock<S>): boolean {
    if (number === top + 1n) return true;
    return number > top && number <= top + MAX_AHEAD && sentAt - aloneSince >= this.#maxAgeMs;
  }

  /** The overrides of the next lower block, as far as they are known. */
  #below(blockNumber: bigint): SourcedBlock<S> | undefined {
    return this.#ascending().findLast(([number]) => number < blockNumber)?.[1].overrides;
  }

  /** Gives a block that was just sent. Forgets the one that was sent longest ago when there are too many. */
  #renew(blockNumber: bigint, below: SourcedBlock<S> | undefined): SentBlock<S> {
    const block = this.#blocks.get(blockNumber) ?? this.#open(blockNumber, below);
    this.#blocks.delete(blockNumber);
    this.#blocks.set(blockNumber, block);
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined && this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest);
    return block;
  }

  #open(blockNumber: bigint, below: SourcedBlock<S> | undefined): SentBlock<S> {
    const overrides = new SourcedBlock<S>(
      blockNumber,
      (receivedAt) => this.#now() - receivedAt > this.#maxAgeMs,
      below,
    );
    return { overrides, sentAt: this.#now(), aloneSince: this.#now() };
  }

  #ascending(): readonly (readonly [bigint, SentBlock<S>])[] {
    return [...this.#blocks].sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
