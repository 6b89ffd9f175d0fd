import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { HexAddress, HexBytes32, IntegerText } from '../../config/scalars.ts';
import { encodeBigints } from '../../runtime/json.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { isWrittenBy } from './messages.ts';

export interface SharedFeedDeps {
  readonly feed: Pick<LiveFeed, 'isClosed' | 'isReading' | 'read' | 'rest' | 'take' | 'state' | 'shared' | 'onFrame'>;
  /**
   * Whether this process is the one that reads the sources, for the next `LEASE_MS`. Rejects while Redis does not answer, and
   * where another is to read them but none does.
   */
  readonly hold: () => Promise<boolean>;
  /** Sends a text to all other processes. Handles its failures itself. Absent: this process only takes what others send. */
  readonly publish?: (text: string) => void;
  /** Default: `performance.now`. */
  readonly now?: Clock;
}

/** How long a process reads for all after it last said so. */
export const LEASE_MS = 1_500;
/** How often {@link SharedFeed.tick} is to be called. It sends all words, for processes that came later, too. */
export const RENEW_MS = 250;
/** Least time between two changes that are sent, unless the last words end. */
const PUBLISH_MS = 80;
/** A process reads the sources by itself after this long without Redis or a reader: not while it connects, or readers change. */
const ALONE_AFTER_MS = 1_000;

const mapOf = <K, V>(key: z.ZodType<K>, value: z.ZodType<V>) =>
  z.array(z.tuple([key, value])).transform((entries): ReadonlyMap<K, V> => new Map(entries as [K, V][]));
const AgeMs = z.number().nonnegative();
const Part = z.object({
  venue: HexAddress,
  timestamp: IntegerText.nullable(),
  order: z.int().positive(),
  words: mapOf(HexAddress, mapOf(HexBytes32, z.tuple([HexBytes32, z.int().nonnegative()]))),
  ageMs: AgeMs,
});
/** `SharedOverrides`. Maps are lists of entries. */
const Message = z.object({
  blocks: z.array(
    z.object({
      blockNumber: IntegerText,
      ageMs: AgeMs,
      aloneMs: AgeMs,
      sources: z.array(
        z.object({
          source: z.object({ id: z.string(), republish: z.boolean().optional() }),
          parts: z.array(Part),
        }),
      ),
    }),
  ),
});

/**
 * Shares the pending words of a chain, whose sources one process reads for all. The others get the words from it. While
 * Redis does not answer, each process reads the sources by itself.
 */
export class SharedFeed {
  readonly #deps: SharedFeedDeps;
  readonly #now: Clock;
  readonly #id = randomUUID();
  /** Digest of the words that were published last: undefined when there were none, null before anything was. */
  #published: string | undefined | null = null;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #failingSince = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SharedFeedDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    deps.feed.onFrame(() => {
      if (!deps.feed.isReading) return;
      const digest = deps.feed.state()?.digest;
      if (digest === this.#published) return;
      const waitMs = this.#publishedAt + PUBLISH_MS - this.#now();
      // Others quote with words that are cancelled until they know.
      if (digest === undefined || waitMs <= 0) this.#publish();
      else this.#timer ??= setTimeout(() => this.#publish(), waitMs).unref();
    });
  }

  /** Starts or ends reading the sources, and tells the others which words hold. */
  async tick(): Promise<void> {
    const { feed, hold } = this.#deps;
    if (feed.isClosed) return;
    const isReader = await hold().then(
      (holds) => {
        this.#failingSince = Number.POSITIVE_INFINITY;
        return holds;
      },
      () => {
        this.#failingSince = Math.min(this.#failingSince, this.#now());
        return feed.isReading || this.#now() - this.#failingSince >= ALONE_AFTER_MS;
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
    this.#deps.feed.take(Message.parse(JSON.parse(text)).blocks);
  }

  #publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { feed, publish } = this.#deps;
    const blocks = publish && feed.shared();
    if (!blocks) return;
    this.#publishedAt = this.#now();
    this.#published = feed.state()?.digest;
    publish(encodeBigints({ id: this.#id, blocks }));
  }
}
