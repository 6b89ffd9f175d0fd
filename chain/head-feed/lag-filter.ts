import type { BlockRef } from '../chain-rpc.ts';

const REMEMBERED_HASHES = 256;

/**
 * Tells news from what a node says late. A block is news once; one that is no higher than the highest is news only from a
 * source that told its height before: that source's chain was reorganised, while the others lag.
 */
export class LagFilter {
  readonly #told = new Set<string>();
  readonly #lastOf = new WeakMap<object, bigint>();
  #highest = -1n;

  isNews(source: object, { number, hash }: BlockRef): boolean {
    const wentBack = number <= (this.#lastOf.get(source) ?? -1n);
    this.#lastOf.set(source, number);
    if (this.#told.has(hash) || (number <= this.#highest && !wentBack)) return false;
    this.#highest = number;
    this.#told.add(hash);
    const [oldest] = this.#told;
    if (this.#told.size > REMEMBERED_HASHES && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }
}
