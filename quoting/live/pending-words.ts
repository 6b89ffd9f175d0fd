import type { Clock } from '../../chain/circuit-breaker.ts';
import { BlockWords, type MergedSource, type PendingWords } from './block-words.ts';
import type { Frame } from './frame.ts';

/** What became of a frame: `late` ones are of a block that was seen, `ahead` ones of one too high. */
export type FrameOutcome = 'used' | 'late' | 'ahead';

/** How far above the head a block may be built: as a rule it is the next one, for a moment that after it. */
export const MAX_AHEAD = 2n;
/** Those that may be built, and the one below. */
const MAX_BLOCKS = 3;

/** What sources sent of one block. */
interface SentBlock {
  readonly words: BlockWords;
  /** When it was sent last, and since when no lower block was. */
  sentAt: number;
  aloneSince: number;
}

/**
 * Merges the frames of all sources of a chain, block by block. Does no I/O.
 *
 * Invariants:
 * 1. All words of a state are of one block number. A frame changes nothing of other numbers: a source that leaps costs no
 *    words of the block that others build.
 * 2. The state is of the block after the newest that was seen. It is of the one after that only when sources sent this one,
 *    and none the former, for `maxAgeMs`: then the head is late.
 * 3. A venue's words that its source did not renew within `maxAgeMs` are left out.
 *
 * {@link BlockWords} says which of different words counts.
 */
export class FrameMerger {
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  /** By number, the one sent longest ago first. */
  readonly #blocks = new Map<bigint, SentBlock>();
  #frames = 0;

  /** @param maxAgeMs how long a venue's words are used after they arrived */
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
  take(source: MergedSource, frame: Frame, top: bigint | undefined): FrameOutcome {
    const { blockNumber } = frame;
    if (top !== undefined && blockNumber <= top) return 'late';
    if (top !== undefined && blockNumber > top + MAX_AHEAD) return 'ahead';
    const receivedAt = this.#now();
    this.#frames += 1;
    const below = this.#ascending().findLast(([number]) => number < blockNumber)?.[1];
    const block = this.#blocks.get(blockNumber) ?? this.#open(blockNumber, below?.words);
    block.words.take(source, frame, { receivedAt, order: this.#frames }, below?.words);
    block.sentAt = receivedAt;
    for (const [number, higher] of this.#blocks) if (number > blockNumber) higher.aloneSince = receivedAt;
    this.#blocks.delete(blockNumber);
    this.#blocks.set(blockNumber, block);
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined && this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest);
    return 'used';
  }

  /**
   * The pending words of the block that is being built; undefined when no source has any. The same object as before while
   * nothing changed, the same `words` while only `receivedAt` did.
   *
   * @param top as in {@link take}; without it, the words are of the highest block
   */
  state(top: bigint | undefined): PendingWords | undefined {
    const sent = this.#ascending();
    const blocks = top === undefined ? sent.toReversed() : sent.filter((each) => this.#mayBeBuilt(top, ...each));
    for (const [, { words }] of blocks) {
      const state = words.state();
      if (state) return state;
    }
    return undefined;
  }

  /** Whether a block may be the one that is being built. */
  #mayBeBuilt(top: bigint, number: bigint, { sentAt, aloneSince }: SentBlock): boolean {
    if (number === top + 1n) return true;
    return number > top && number <= top + MAX_AHEAD && sentAt - aloneSince >= this.#maxAgeMs;
  }

  #open(blockNumber: bigint, below: BlockWords | undefined): SentBlock {
    const words = new BlockWords(blockNumber, (receivedAt) => this.#now() - receivedAt > this.#maxAgeMs, below);
    return { words, sentAt: this.#now(), aloneSince: this.#now() };
  }

  #ascending(): readonly (readonly [bigint, SentBlock])[] {
    return [...this.#blocks].sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
