import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../../config/scalars.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { IntegerText, isWrittenBy } from './messages.ts';

export interface SharedFeedDeps {
  readonly feed: Pick<LiveFeed, 'isClosed' | 'isReading' | 'read' | 'rest' | 'take' | 'merged' | 'onFrame'>;
  /**
   * Whether this process is the one that reads the sources, for the next `LEASE_MS`. Rejects while Redis does not answer, and
   * where another is to read them but none does.
   */
  readonly hold: (id: string) => Promise<boolean>;
  /** Sends a text to all other processes. Handles its failures itself. Absent: this process only takes what others send. */
  readonly publish?: (text: string) => void;
}

/** How long a process reads for all after it last said so. */
export const LEASE_MS = 1_500;
/** How often {@link SharedFeed.tick} is to be called. It sends all words, for processes that came later, too. */
export const RENEW_MS = 250;
/** Least time between two changes that are sent. */
const PUBLISH_MS = 80;
/** A process reads the sources by itself after this long without Redis or a reader: not while it connects, or readers change. */
const ALONE_AFTER_MS = 1_000;

const mapOf = <K, V>(key: z.ZodType<K>, value: z.ZodType<V>) =>
  z.array(z.tuple([key, value])).transform((entries): ReadonlyMap<K, V> => new Map(entries as [K, V][]));
const SharedWords = mapOf(HexAddress, mapOf(HexBytes32, HexBytes32));
/** Maps are lists of entries. */
const Message = z.object({
  /** How old the words are, milliseconds. */
  ageMs: z.number().nonnegative(),
  digest: z.string(),
  blockNumber: IntegerText,
  timestamp: IntegerText.nullable(),
  words: SharedWords,
  republished: mapOf(HexAddress, SharedWords).optional(),
});

/**
 * Shares the pending words of a chain, whose sources one process reads for all. The others get the words from it. While
 * Redis does not answer, each process reads the sources by itself.
 */
export class SharedFeed {
  readonly #deps: SharedFeedDeps;
  readonly #id = randomUUID();
  #published: string | undefined;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #failingSince = Number.POSITIVE_INFINITY;

  constructor(deps: SharedFeedDeps) {
    this.#deps = deps;
    deps.feed.onFrame(() => {
      if (performance.now() - this.#publishedAt < PUBLISH_MS) return;
      if (deps.feed.merged()?.digest !== this.#published) this.#publish();
    });
  }

  /** Starts or ends reading the sources, and tells the others which words hold. */
  async tick(): Promise<void> {
    const { feed, hold } = this.#deps;
    if (feed.isClosed) return;
    const isReader = await hold(this.#id).then(
      (holds) => {
        this.#failingSince = Number.POSITIVE_INFINITY;
        return holds;
      },
      () => {
        this.#failingSince = Math.min(this.#failingSince, performance.now());
        return feed.isReading || performance.now() - this.#failingSince >= ALONE_AFTER_MS;
      },
    );
    if (isReader) feed.read();
    else feed.rest();
    this.#publish();
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    // Redis sends a process its own messages, too.
    if (isWrittenBy(this.#id, text)) return;
    const { ageMs, ...words } = Message.parse(JSON.parse(text));
    this.#deps.feed.take({ ...words, receivedAt: performance.now() - ageMs });
  }

  #publish(): void {
    const { feed, publish } = this.#deps;
    const words = publish && feed.merged();
    if (!words) return;
    const { receivedAt, ...content } = words;
    this.#publishedAt = performance.now();
    this.#published = words.digest;
    const ageMs = Math.max(0, this.#publishedAt - receivedAt);
    publish(JSON.stringify({ id: this.#id, ageMs, ...content }, asJson));
  }
}

function asJson(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  return typeof value === 'bigint' ? String(value) : value;
}
