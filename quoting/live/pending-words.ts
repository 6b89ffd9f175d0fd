import { createHash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { BOUNDS, type Frame, type Words } from './frame.ts';

/** The merged words of the newest block being built that sources tell of. */
export interface PendingWords {
  readonly blockNumber: bigint;
  /** Unix seconds, from the newest of the frames that says; null where none does. */
  readonly timestamp: bigint | null;
  /** Never empty. */
  readonly words: Words;
  /** The words of sources that may be passed on, by venue: the newest first. Absent: none. */
  readonly republished?: ReadonlyMap<Address, Words> | undefined;
  /** Of number, time and all words: equal if and only if these are. 22 characters of base64url. */
  readonly digest: string;
  /** When the oldest frame arrived whose words are in it, in milliseconds of the merger's clock. */
  readonly receivedAt: number;
}

/** What became of a frame: `late` ones are of a lower block than another frame or the head, `ahead` ones of one too high. */
export type FrameOutcome = 'used' | 'late' | 'ahead';

/** How far above the head a frame's block may be: as a rule it is the next one, for a moment that after it. */
const MAX_AHEAD = 2n;
const DIGEST_CHARACTERS = 22;

/** One venue's words, as a source last sent them. */
interface Part {
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

type Content = Omit<PendingWords, 'digest' | 'receivedAt'>;

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
  readonly #parts = new Map<MergedSource, Map<Address, Part>>();
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
    if (blockNumber !== this.#blockNumber) this.#parts.clear();
    this.#blockNumber = blockNumber;
    const receivedAt = this.#now();
    this.#numberSentAt = receivedAt;
    this.#frames += 1;
    const before = this.#parts.get(source);
    const parts = new Map(isComplete ? [] : [...(before ?? [])].filter(([venue]) => !frame.venues.has(venue)));
    for (const [venue, words] of frame.venues) {
      const last = before?.get(venue);
      const order = last?.words === words ? last.order : this.#frames;
      parts.set(venue, { words, timestamp, receivedAt, order });
    }
    this.#parts.set(source, withinBounds(parts));
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
    const parts = [...this.#parts]
      .flatMap(([{ republish }, ofSource]) => [...ofSource].map(([venue, part]) => ({ ...part, venue, republish })))
      .filter(({ receivedAt }) => !this.#isOld(receivedAt))
      .sort((one, other) => other.order - one.order);
    const words = new Map<Address, Map<Hex, Hex>>();
    // The newest words come first.
    const used = parts.filter((part) => addMissing(words, part.words));
    if (used.length === 0) return undefined;
    const receivedAt = Math.min(...used.map((part) => part.receivedAt));
    const timestamp = used.find((part) => part.timestamp !== null)?.timestamp ?? null;
    const open = new Map<Address, Words>();
    for (const part of parts) {
      if (part.republish && part.words.size > 0 && !open.has(part.venue)) open.set(part.venue, part.words);
    }
    const republished = open.size > 0 ? open : undefined;
    const content = { blockNumber: this.#blockNumber, timestamp, words, republished };
    const last = this.#state;
    return last && isSame(last, content)
      ? { ...last, receivedAt }
      : { ...content, digest: digestOf(content), receivedAt };
  }
}

/** Leaves out the venues that were renewed longest ago until the rest is as small as one frame. */
function withinBounds(parts: Map<Address, Part>): Map<Address, Part> {
  let count = parts.values().reduce((sum, { words }) => sum + wordCount(words), 0);
  for (const [venue, { words }] of parts) {
    if (parts.size <= BOUNDS.venues && count <= BOUNDS.words) break;
    count -= wordCount(words);
    parts.delete(venue);
  }
  return parts;
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

function isSame(one: Content, other: Content): boolean {
  if (one.blockNumber !== other.blockNumber || one.timestamp !== other.timestamp) return false;
  const [ofOne, ofOther] = [one.republished ?? NO_VENUES, other.republished ?? NO_VENUES];
  return isSameWords(one.words, other.words) && isSameMap(ofOne, ofOther, isSameWords);
}

const NO_VENUES: ReadonlyMap<Address, Words> = new Map();

const isSameWords = (one: Words, other: Words): boolean =>
  isSameMap(one, other, (slots, others) => isSameMap(slots, others, (a, b) => a === b));

function isSameMap<V>(one: ReadonlyMap<Hex, V>, other: ReadonlyMap<Hex, V>, isSameValue: (a: V, b: V) => boolean) {
  if (one.size !== other.size) return false;
  return one.entries().every(([key, value]) => {
    const match = other.get(key);
    return match !== undefined && isSameValue(value, match);
  });
}

function digestOf({ blockNumber, timestamp, words, republished = NO_VENUES }: Content): string {
  const hash = createHash('sha256').update(`${blockNumber} ${timestamp}`);
  const add = (of: Words) => {
    for (const account of [...of.keys()].sort()) {
      const slots = [...(of.get(account) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
      hash.update(`\n${account} ${slots.join(' ')}`);
    }
  };
  add(words);
  for (const venue of [...republished.keys()].sort()) {
    hash.update(`\n\n${venue}`);
    add(republished.get(venue) ?? new Map());
  }
  return hash.digest('base64url').slice(0, DIGEST_CHARACTERS);
}
