import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';

/** How many blocks are remembered, the head included. */
const MAX_BLOCKS = 256;
/** How many blocks below a head the block that two branches share is looked for. */
export const MAX_LOOK_BACK = 64;
/** How many replaced blocks are remembered. */
const MAX_REPLACED = 64;
/** Stands for the lowest replaced height when the branches meet below all blocks that were looked at. */
export const UNKNOWN_HEIGHT = 0n;

/** The last blocks of one branch of a chain, without gaps, up to its head. Immutable. */
export class ChainTail {
  readonly from: bigint;
  readonly #hashes: readonly Hex[];
  readonly #replaced: readonly Hex[];
  static readonly EMPTY = new ChainTail(0n, [], []);

  /**
   * @param hashes of consecutive blocks, the first one at height `from`
   * @param replaced hashes of blocks in whose place others were seen later
   */
  private constructor(from: bigint, hashes: readonly Hex[], replaced: readonly Hex[]) {
    this.from = from;
    this.#hashes = hashes;
    this.#replaced = replaced;
  }

  /** Hash of the block at a height; undefined where none is remembered. */
  hashAt(height: bigint): Hex | undefined {
    return height < this.from ? undefined : this.#hashes[Number(height - this.from)];
  }

  /** Whether another block was seen at the height of this one. */
  hasOther({ number, hash }: BlockRef): boolean {
    const known = this.hashAt(number);
    return known !== undefined && known !== hash;
  }

  /** Whether another block was seen in the place of this one, later. */
  hasReplaced({ hash }: BlockRef): boolean {
    return this.#replaced.includes(hash);
  }

  /** Whether the lowest parent of a header is remembered, or lies below all remembered blocks. */
  meets({ number, parents }: BlockHeader): boolean {
    const lowest = number - BigInt(parents.length);
    return lowest < this.from || this.#hashes.length === 0 || this.hashAt(lowest) === parents.at(-1);
  }

  /** The branch that ends with this block. It keeps blocks below the lowest parent only if it remembers that one. */
  endingWith({ number, hash, parents }: BlockHeader): ChainTail {
    const lowest = number - BigInt(parents.length);
    const isKnown = this.hashAt(lowest) === parents.at(-1);
    const kept = isKnown ? this.#hashes.slice(0, Number(lowest - this.from)) : [];
    const hashes = [...kept, ...parents.toReversed(), hash];
    const from = isKnown ? this.from : lowest;
    const cut = Math.max(0, hashes.length - MAX_BLOCKS);
    const replaced = [...this.#replaced, ...this.#hashes.slice(kept.length)].filter((each) => !hashes.includes(each));
    return new ChainTail(from + BigInt(cut), hashes.slice(cut), replaced.slice(-MAX_REPLACED));
  }

  /**
   * Finds which of these blocks another branch replaces, by the highest block that both have: all below are the same.
   *
   * @returns the lowest replaced height; `UNKNOWN_HEIGHT` when it may lie below the compared blocks; null for none
   */
  replacedFrom(next: ChainTail): bigint | null {
    if (this.#hashes.length === 0 || next === this) return null;
    let [first, shared] = [this.from, this.top];
    if (next.from > first) first = next.from;
    if (next.top < shared) shared = next.top;
    while (shared >= first && this.hashAt(shared) !== next.hashAt(shared)) shared -= 1n;
    if (shared < first) return first > this.from ? UNKNOWN_HEIGHT : first;
    return shared === this.top ? null : shared + 1n;
  }

  /** Hashes of blocks below the head, nearest first, down to the block shared with another branch, if that is near. */
  parentsSince(before: ChainTail): readonly Hex[] {
    const parents: Hex[] = [];
    for (let height = this.top - 1n; this.hashAt(height) && parents.length < MAX_LOOK_BACK; height -= 1n) {
      const hash = this.hashAt(height) as Hex;
      parents.push(hash);
      if (before.hashAt(height) === hash) break;
    }
    return parents;
  }

  /** Height of the head. */
  get top(): bigint {
    return this.from + BigInt(this.#hashes.length) - 1n;
  }
}
