import { z } from 'zod';
import { STREAM_MESSAGES } from '../../api/stream/message-schema.ts';
import type { StreamEventName } from '../../api/stream/types.ts';

/** A message as a client got it. */
export interface Received {
  readonly event: StreamEventName;
  readonly id: string;
  readonly data: unknown;
}

const Head = z.object({ blockNumber: z.int(), seq: z.int(), prevSeq: z.int().nullable() });

/**
 * What a client knows that follows `docs/use/stream.md`, from the messages alone. A pool is held with its quote, or
 * with the status of why it has none; a pool that is not held is not known.
 */
export class Book {
  readonly quotes = new Map<string, { readonly quote: object; readonly sentAt: number }>();
  readonly failed = new Map<string, number>();
  readonly removed = new Set<string>();
  readonly events: StreamEventName[] = [];
  /** The block that all of it is of; null while a message said that more follows. */
  block: number | null = null;
  /** The id of the last message, if it had one. */
  lastId: string | undefined;
  /** Whether the quotes of all pools that are subscribed to are known. */
  isWhole = false;
  #seq: number | null = null;

  take({ event, id, data }: Received): void {
    STREAM_MESSAGES[event].parse(data);
    const { blockNumber, seq, prevSeq } = Head.parse(data);
    // Null in the first message of a connection.
    if (prevSeq !== this.#seq) throw new Error(`the message before is ${prevSeq}, the last one was ${this.#seq}`);
    this.#seq = seq;
    this.lastId = id || undefined;
    this.isWhole = id !== '';
    this.events.push(event);
    this.block = null;
    this.#takers[event]?.(data, blockNumber);
    const isEnd = event === 'heartbeat' || (data as { last?: boolean }).last === true;
    if (isEnd) this.block = blockNumber;
  }

  /** Another connection begins: it resumes after `lastId`, or knows nothing. */
  reconnect(): void {
    if (this.lastId === undefined) this.#forget();
    this.#seq = null;
    this.block = null;
    this.isWhole = false;
  }

  readonly #takers: { readonly [E in StreamEventName]?: (data: unknown, block: number) => void } = {
    gap: () => this.#forget(),
    reorg: (data) => {
      const { fromBlock } = STREAM_MESSAGES.reorg.parse(data);
      for (const [pool, { sentAt }] of this.quotes) if (sentAt >= fromBlock) this.quotes.delete(pool);
    },
    snapshot: (data, block) => {
      const { quotes, errors } = STREAM_MESSAGES.snapshot.parse(data);
      this.#put(quotes, block);
      this.#fail(errors);
    },
    update: (data, block) => this.#put(STREAM_MESSAGES.update.parse(data).quotes, block),
    stale: (data) => this.#fail(STREAM_MESSAGES.stale.parse(data).pools),
    removed: (data) => {
      for (const { poolAddress } of STREAM_MESSAGES.removed.parse(data).pools) {
        this.quotes.delete(poolAddress);
        this.failed.delete(poolAddress);
        this.removed.add(poolAddress);
      }
    },
  };

  #forget(): void {
    this.quotes.clear();
    this.failed.clear();
    this.removed.clear();
  }

  #put(quotes: readonly { readonly poolAddress: string }[], sentAt: number): void {
    for (const quote of quotes) {
      this.quotes.set(quote.poolAddress, { quote, sentAt });
      this.failed.delete(quote.poolAddress);
      this.removed.delete(quote.poolAddress);
    }
  }

  #fail(pools: readonly { readonly poolAddress: string; readonly status: number }[]): void {
    for (const { poolAddress, status } of pools) {
      this.quotes.delete(poolAddress);
      this.failed.set(poolAddress, status);
    }
  }
}
