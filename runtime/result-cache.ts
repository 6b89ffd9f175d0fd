import { LRUCache } from 'lru-cache';

/** How long a result is used, milliseconds, or a function that derives that from the result and the time it took. */
type Keep<V> = number | ((result: V, tookMs: number) => number);

type Entry<V> = { readonly result: Promise<V>; readonly usedUntil: number };

/**
 * Makes a result once for all callers of its key. Callers that come meanwhile wait for the same promise. Later callers
 * get the result as long as it is kept. A failure reaches only the callers that wait for it; the next one tries again.
 */
export class ResultCache<V> {
  readonly #sizeOf: (result: V, key: string) => number;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Entry<V>>;

  /**
   * @param maxSize total size of the results; above it, the least recently used ones are evicted
   * @param sizeOf size of a result, in the same unit
   * @param now clock, milliseconds
   */
  constructor(
    maxSize: number,
    sizeOf: (result: V, key: string) => number = () => 1,
    now: () => number = () => performance.now(),
  ) {
    this.#sizeOf = sizeOf;
    this.#now = now;
    // With `max` instead, the cache would allocate all of its memory at once.
    this.#entries = new LRUCache({ maxSize });
  }

  /** @param keepMs how long the result is used after it is made; 0: only the callers that wait for it share it */
  get(key: string, make: () => Promise<V>, keepMs: Keep<V> = Number.POSITIVE_INFINITY): Promise<V> {
    const known = this.#entries.get(key);
    if (known && this.#now() < known.usedUntil) return known.result;
    const begun = this.#now();
    const entry = { result: make(), usedUntil: Number.POSITIVE_INFINITY };
    this.#entries.set(key, entry, { size: 1 });
    const settle = (usedMs: number, size: number) => {
      if (this.#entries.peek(key) !== entry) return;
      if (usedMs > 0) this.#entries.set(key, { ...entry, usedUntil: this.#now() + usedMs }, { size });
      else this.#entries.delete(key);
    };
    entry.result.then(
      (result) => {
        const usedMs = typeof keepMs === 'number' ? keepMs : keepMs(result, this.#now() - begun);
        settle(usedMs, this.#sizeOf(result, key));
      },
      () => settle(0, 1),
    );
    return entry.result;
  }
}

/** Makes a single result once for all callers, as {@link ResultCache} does. */
export function cacheResult<V>(make: () => Promise<V>, keepMs: Keep<V>, now?: () => number): () => Promise<V> {
  const cache = new ResultCache<V>(1, undefined, now);
  return () => cache.get('', make, keepMs);
}
