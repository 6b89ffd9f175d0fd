import { hash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { PendingState, Words } from '../../chain/pending-state.ts';
import { BOUNDS, type Frame } from './frame.ts';

/**
 * The merged words of the newest block being built that sources tell of, of which there is at least one. The time is from
 * the newest of the frames that say; null where none does. `receivedAt` is when the oldest frame arrived whose words are
 * in it, by the merger's clock.
 */
export type PendingWords = Omit<PendingState, 'timestamp'> & { readonly timestamp: bigint | null };

/** What became of a frame: `late` ones are of a lower block than another frame or the head, `ahead` ones of one too high. */
export type FrameOutcome = 'used' | 'late' | 'ahead';

/** How far above the head a block may be built: as a rule it is the next one, for a moment that after it. */
export const MAX_AHEAD = 2n;
const DIGEST_CHARACTERS = 22;

/** One venue's words, as a source last sent them. */
interface Part {
  readonly source: MergedSource;
  readonly venue: Address;
  readonly words: Words;
  readonly timestamp: bigint | null;
  readonly receivedAt: number;
  /** Number of the first frame with these words: frames count from 1 as they arrive. */
  readonly order: number;
}

/** Names a source. `republish`: its words may be passed on. */
export interface MergedSource {
  readonly republish?: boolean | undefined;
}

/**
 * Merges the frames of all sources of a chain. Does no I/O.
 *
 * Invariants:
 * 1. All words are of one block number, the highest of the frames that were used. It goes back only when no source sent
 *    it for `maxAgeMs`, or when it is more than two above the head: a source that is wrong stops the others no longer.
 * 2. A frame replaces all words that its source sent of its venues, and of all other venues if it is complete.
 * 3. A venue's words that its source did not renew within `maxAgeMs` are left out.
 * 4. Where two venues or sources give a slot different words, the newer frame wins. One that gives a venue's words of before,
 *    the same object, only renews them.
 */
export class FrameMerger {
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  #blockNumber = -1n;
  #numberSentAt = Number.NEGATIVE_INFINITY;
  #frames = 0;
  /** Of each source, those that it renewed longest ago first. */
  #parts: readonly Part[] = [];
  #state: PendingWords | undefined;
  #isOutdated = false;

  /** @param maxAgeMs how long a venue's words are used after they arrived */
  constructor(maxAgeMs: number, now: Clock) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  /**
   * Takes a frame that just arrived.
   *
   * @param source names the source, the same object each time
   * @param headNumber the committed head; unknown until the chain was read
   */
  take(source: MergedSource, frame: Frame, headNumber: bigint | undefined): FrameOutcome {
    const { blockNumber, timestamp, isComplete } = frame;
    const highest = headNumber === undefined ? undefined : headNumber + MAX_AHEAD;
    if (headNumber !== undefined && blockNumber <= headNumber) return 'late';
    if (highest !== undefined && blockNumber > highest) return 'ahead';
    const mayGoBack = this.#isOld(this.#numberSentAt) || (highest !== undefined && this.#blockNumber > highest);
    if (blockNumber < this.#blockNumber && !mayGoBack) return 'late';
    if (blockNumber !== this.#blockNumber) this.#parts = [];
    this.#blockNumber = blockNumber;
    const receivedAt = this.#now();
    this.#numberSentAt = receivedAt;
    this.#frames += 1;
    const before = this.#parts.filter((part) => part.source === source);
    const sent = [...frame.venues].map(([venue, words]): Part => {
      const last = before.find((part) => part.venue === venue);
      const order = last?.words === words ? last.order : this.#frames;
      return { source, venue, words, timestamp, receivedAt, order };
    });
    const kept = isComplete ? [] : before.filter(({ venue }) => !frame.venues.has(venue));
    const others = this.#parts.filter((part) => part.source !== source);
    this.#parts = [...others, ...withinBounds([...kept, ...sent])];
    this.#isOutdated = true;
    return 'used';
  }

  /**
   * The pending words now; undefined when no source has any. The same object as before while nothing changed, the same
   * `words` while only `receivedAt` did.
   */
  state(): PendingWords | undefined {
    if (this.#isOutdated || (this.#state && this.#isOld(this.#state.receivedAt))) this.#state = this.#merge();
    this.#isOutdated = false;
    return this.#state;
  }

  #isOld(receivedAt: number): boolean {
    return this.#now() - receivedAt > this.#maxAgeMs;
  }

  #merge(): PendingWords | undefined {
    // The newest words come first.
    const parts = this.#parts
      .filter(({ receivedAt }) => !this.#isOld(receivedAt))
      .sort((one, other) => other.order - one.order);
    const words = new Map<Address, Map<Hex, Hex>>();
    const used = parts.filter((part) => addMissing(words, part.words));
    if (used.length === 0) return undefined;
    const receivedAt = Math.min(...used.map((part) => part.receivedAt));
    const timestamp = used.find((part) => part.timestamp !== null)?.timestamp ?? null;
    const open = new Map<Address, Words>();
    for (const part of parts) {
      if (part.source.republish && part.words.size > 0 && !open.has(part.venue)) open.set(part.venue, part.words);
    }
    const content = { blockNumber: this.#blockNumber, timestamp, words, republished: open.size > 0 ? open : undefined };
    const digest = digestOf(content);
    return this.#state?.digest === digest ? { ...this.#state, receivedAt } : { ...content, digest, receivedAt };
  }
}

/** Leaves out the parts that come first until the rest is as small as one frame. */
function withinBounds(parts: readonly Part[]): readonly Part[] {
  let count = 0;
  const last = parts.findLastIndex(({ words }) => {
    count += wordCount(words);
    return count > BOUNDS.words;
  });
  return parts.slice(last + 1).slice(-BOUNDS.venues);
}

const wordCount = (words: Words): number => words.values().reduce((sum, slots) => sum + slots.size, 0);

/** Adds words at slots that have none yet. @returns whether there was one to add */
function addMissing(target: Map<Address, Map<Hex, Hex>>, words: Words): boolean {
  let hasAdded = false;
  for (const [account, slots] of words) {
    const known = target.get(account) ?? new Map<Hex, Hex>();
    const missing = [...slots].filter(([slot]) => !known.has(slot));
    if (missing.length === 0) continue;
    for (const [slot, word] of missing) known.set(slot, word);
    target.set(account, known);
    hasAdded = true;
  }
  return hasAdded;
}

function digestOf({ blockNumber, timestamp, words, republished }: Omit<PendingWords, 'digest' | 'receivedAt'>): string {
  const venues = [...(republished ?? [])].map(([venue, ofVenue]) => `${venue}\n${linesOf(ofVenue)}`).sort();
  const text = [blockNumber, timestamp, linesOf(words), ...venues].join('\n\n');
  return hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS);
}

/** The same text for the same words, in whatever order they are. */
const linesOf = (words: Words): string =>
  [...words]
    .flatMap(([account, slots]) => [...slots].map(([slot, word]) => `${account} ${slot} ${word}`))
    .sort()
    .join('\n');
