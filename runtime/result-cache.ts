import { LRUCache } from 'lru-cache';

/** Milliseconds that a result is used, or what tells them from the result and the time that it took. */
type Keep<V> = number | ((result: V, tookMs: number) => number);

type Entry<V> = { readonly result: Promise<V>; readonly usedUntil: number };

/**
 * Makes a result once for all callers of its key: those that come while it is made wait for the same promise, later ones get
 * it as long as it is kept. A failure reaches those that wait for it, and the next caller tries again.
 */
export class ResultCache<V> {
  readonly #entries: LRUCache<string, Entry<V>>;

  /**
   * @param maxSize most that results take together: those that were asked for least recently leave first
   * @param sizeOf what a result takes
   * @param now milliseconds
   */
  constructor(
    maxSize: number,
    private readonly sizeOf: (result: V, key: string) => number = () => 1,
    private readonly now: () => number = () => performance.now(),
  ) {
    // With `max` it would allocate room for all at once.
    this.#entries = new LRUCache({ maxSize });
  }

  /** @param keepMs counts from when the result is made; 0 shares it with those alone that wait for it */
  get(key: string, make: () => Promise<V>, keepMs: Keep<V> = Number.POSITIVE_INFINITY): Promise<V> {
    const known = this.#entries.get(key);
    if (known && this.now() < known.usedUntil) return known.result;
    const begun = this.now();
    const entry = { result: make(), usedUntil: Number.POSITIVE_INFINITY };
    this.#entries.set(key, entry, { size: 1 });
    const settle = (usedMs: number, size: number) => {
      if (this.#entries.peek(key) !== entry) return;
      if (usedMs > 0) this.#entries.set(key, { ...entry, usedUntil: this.now() + usedMs }, { size });
      else this.#entries.delete(key);
    };
    entry.result.then(
      (result) => {
        const usedMs = typeof keepMs === 'number' ? keepMs : keepMs(result, this.now() - begun);
        settle(usedMs, this.sizeOf(result, key));
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
