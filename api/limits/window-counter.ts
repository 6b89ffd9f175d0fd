import { LRUCache } from 'lru-cache';

export type WindowCount = {
  /** Requests of the client in its window, this one included. */
  readonly requests: number;
  readonly msBeforeNext: number;
};

/** Clients counted at once: a few megabytes, however many addresses an attacker has. */
export const MAX_CLIENTS = 50_000;

type Entry = { requests: number; readonly endsAt: number };

/**
 * Counts requests by client in windows that begin with a client's first request. Memory is bounded: of too many clients
 * the one that was quiet longest is forgotten, and starts again from zero.
 */
export class WindowCounter {
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #clients: LRUCache<string, Entry>;

  constructor(windowSecs: number, maxClients: number, now: () => number = Date.now) {
    this.#windowMs = windowSecs * 1000;
    this.#now = now;
    // With `max` it would allocate room for all at once, in each of a dozen counters.
    this.#clients = new LRUCache({ maxSize: maxClients, sizeCalculation: () => 1 });
  }

  /** Clients that are remembered. */
  get size(): number {
    return this.#clients.size;
  }

  count(client: string): WindowCount {
    const now = this.#now();
    const known = this.#clients.get(client);
    const entry = known && known.endsAt > now ? known : { requests: 0, endsAt: now + this.#windowMs };
    entry.requests += 1;
    if (entry !== known) this.#clients.set(client, entry);
    return { requests: entry.requests, msBeforeNext: entry.endsAt - now };
  }
}
