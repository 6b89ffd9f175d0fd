import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../../config/scalars.ts';
import type { FeedOfWords } from '../live/live-feed.ts';
import type { PendingWords } from '../live/pending-words.ts';
import { IntegerText } from './messages.ts';

export interface SharedFeedDeps {
  /** Opens the sources. */
  readonly open: () => FeedOfWords;
  /** Whether this process is the one that reads the sources, for the next `LEASE_MS`. Rejects while Redis does not answer. */
  readonly hold: (id: string) => Promise<boolean>;
  /** Sends a text to all other processes. Handles its failures itself. */
  readonly publish: (text: string) => void;
}

/** How long a process reads for all after it last said so. */
export const LEASE_MS = 1_500;
/** How often {@link SharedFeed.tick} is to be called. */
export const RENEW_MS = 250;
/** Least time between two changes that are sent. */
const PUBLISH_MS = 80;
/** How often words that still hold are sent whole, for processes that came later. */
const WHOLE_MS = 1_000;
/** A process reads the sources by itself once Redis has not answered for this long: not while it connects. */
const ALONE_AFTER_MS = 1_000;

const SharedWords = z.array(z.tuple([HexAddress, z.array(z.tuple([HexBytes32, HexBytes32]))]));
const Message = z.object({
  id: z.string(),
  digest: z.string(),
  /** How old the words are, milliseconds. */
  ageMs: z.number().nonnegative(),
  /** Absent: those that were sent before with this digest. */
  content: z
    .object({
      blockNumber: IntegerText,
      timestamp: IntegerText.nullable(),
      words: SharedWords,
      republished: z.array(z.tuple([HexAddress, SharedWords])).optional(),
    })
    .optional(),
});

/**
 * The pending words of a chain, whose sources one process reads for all. The others get the words from it. While Redis
 * does not answer, each process reads the sources by itself.
 */
export class SharedFeed implements FeedOfWords {
  readonly #deps: SharedFeedDeps;
  readonly #id = randomUUID();
  readonly #listeners = new Set<() => void>();
  #own: FeedOfWords | undefined;
  #others: PendingWords | undefined;
  #published: string | undefined;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #failingSince = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(deps: SharedFeedDeps) {
    this.#deps = deps;
  }

  onFrame(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  state(): PendingWords | undefined {
    return this.#own?.state() ?? this.#others;
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#own?.close();
  }

  /** Starts or ends reading the sources, and tells the others that the words still hold. */
  async tick(): Promise<void> {
    if (this.#isClosed) return;
    const isReader = await this.#deps.hold(this.#id).then(
      (holds) => {
        this.#failingSince = Number.POSITIVE_INFINITY;
        return holds;
      },
      () => {
        this.#failingSince = Math.min(this.#failingSince, performance.now());
        return this.#own !== undefined || performance.now() - this.#failingSince >= ALONE_AFTER_MS;
      },
    );
    if (this.#isClosed) return;
    if (isReader && !this.#own) this.#open();
    if (!isReader) {
      this.#own?.close();
      this.#own = undefined;
    }
    const words = this.#own?.state();
    if (words) this.#publish(words, words.digest !== this.#published || performance.now() - this.#wholeAt >= WHOLE_MS);
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    const { id, digest, ageMs, content } = Message.parse(JSON.parse(text));
    if (id === this.#id) return;
    const receivedAt = performance.now() - ageMs;
    const isSame = this.#others?.digest === digest;
    if (isSame && this.#others) this.#others = { ...this.#others, receivedAt };
    if (isSame || !content) return;
    const words = wordsOf(content.words);
    const republished = content.republished && new Map(content.republished.map(([venue, of]) => [venue, wordsOf(of)]));
    this.#others = { ...content, words, republished, digest, receivedAt };
    if (!this.#own) this.#tell();
  }

  #open(): void {
    this.#own = this.#deps.open();
    this.#own.onFrame(() => {
      this.#publishChange();
      this.#tell();
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Sends words that changed, some time after the last ones. */
  #publishChange(): void {
    if (performance.now() - this.#publishedAt < PUBLISH_MS) return;
    const words = this.#own?.state();
    if (words && words.digest !== this.#published) this.#publish(words, true);
  }

  #publish({ digest, receivedAt, blockNumber, timestamp, words, republished }: PendingWords, isWhole: boolean): void {
    const ageMs = Math.max(0, performance.now() - receivedAt);
    this.#publishedAt = performance.now();
    this.#published = digest;
    if (isWhole) this.#wholeAt = this.#publishedAt;
    const content = isWhole && {
      blockNumber: String(blockNumber),
      timestamp: timestamp === null ? null : String(timestamp),
      words: listOf(words),
      ...(republished && { republished: [...republished].map(([venue, of]) => [venue, listOf(of)]) }),
    };
    this.#deps.publish(JSON.stringify({ id: this.#id, digest, ageMs, ...(content && { content }) }));
  }
}

const listOf = (words: PendingWords['words']) => [...words].map(([account, slots]) => [account, [...slots]]);
const wordsOf = (list: z.output<typeof SharedWords>): PendingWords['words'] =>
  new Map(list.map(([account, slots]) => [account, new Map(slots)]));
