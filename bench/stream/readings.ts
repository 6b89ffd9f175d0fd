import { z } from 'zod';
import { millisecondsNow } from '../../test/many-pools/now.ts';
import type { Pace } from './connections.ts';

const Message = z.object({
  seq: z.number(),
  prevSeq: z.number().nullish(),
  blockNumber: z.number(),
  quotes: z.array(z.unknown()).optional(),
});

/** An update that a connection got. */
export interface Update {
  /** Number of the connection, in the order of their plans. */
  readonly connection: number;
  readonly block: number;
  /** As {@link millisecondsNow}. */
  readonly at: number;
  readonly quotes: number;
  readonly bytes: number;
}

export interface Collected {
  readonly updates: readonly Update[];
  /** Messages of each kind. */
  readonly events: Readonly<Record<string, number>>;
  /** Messages that do not follow the one before by `prevSeq`. */
  readonly breaks: number;
  /** Connections that the server ended, by how they were read. */
  readonly closed: Readonly<Record<Pace, number>>;
}

/** What all connections of this process got. */
export class Readings {
  #updates: Update[] = [];
  #events: Record<string, number> = {};
  #breaks = 0;
  #closed = { good: 0, slow: 0, never: 0 };
  readonly #lastSeq = new Map<number, number>();

  note(connection: number, event: string, text: string): void {
    const at = millisecondsNow();
    this.#events[event] = (this.#events[event] ?? 0) + 1;
    const { seq, prevSeq, blockNumber, quotes = [] } = Message.parse(JSON.parse(text));
    const last = this.#lastSeq.get(connection);
    if (last !== undefined && prevSeq !== last) this.#breaks += 1;
    this.#lastSeq.set(connection, seq);
    if (event === 'update')
      this.#updates.push({ connection, block: blockNumber, at, quotes: quotes.length, bytes: text.length });
  }

  noteClosed(pace: Pace): void {
    this.#closed[pace] += 1;
  }

  /** What came since the last time. */
  take(): Collected {
    const taken = { updates: this.#updates, events: this.#events, breaks: this.#breaks, closed: this.#closed };
    this.#updates = [];
    this.#events = {};
    this.#breaks = 0;
    this.#closed = { good: 0, slow: 0, never: 0 };
    return taken;
  }

  forget(): void {
    this.take();
    this.#lastSeq.clear();
  }
}
