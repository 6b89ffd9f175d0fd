import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';

/** Most blocks that are remembered, of those below the head. */
const MAX_BLOCKS = 256;
/** How far down the block that two branches share is looked for. */
export const MAX_LOOK_BACK = 64;
/** In place of the lowest replaced height: the branches meet lower than was looked. */
export const UNKNOWN_HEIGHT = 0n;

/** The last blocks of one branch of a chain without a missing one, up to its head. Never changes. */
export class ChainTail {
  static readonly EMPTY = new ChainTail(0n, []);

  /** @param hashes of consecutive blocks, the first one at height `from` */
  private constructor(
    private readonly from: bigint,
    private readonly hashes: readonly Hex[],
  ) {}

  /** Undefined outside of what is remembered. */
  hashAt(height: bigint): Hex | undefined {
    return height < this.from ? undefined : this.hashes[Number(height - this.from)];
  }

  /** Whether another block was seen at the height of this one. */
  hasOther({ number, hash }: BlockRef): boolean {
    const known = this.hashAt(number);
    return known !== undefined && known !== hash;
  }

  /** Whether the lowest parent of a header is remembered, or lies below everything that is. */
  meets({ number, parents }: BlockHeader): boolean {
    const lowest = number - BigInt(parents.length);
    return lowest < this.from || this.hashes.length === 0 || this.hashAt(lowest) === parents.at(-1);
  }

  /** The branch that ends with this block. Blocks below its lowest parent are kept only if that one is remembered. */
  endingWith({ number, hash, parents }: BlockHeader): ChainTail {
    const lowest = number - BigInt(parents.length);
    const isKnown = this.hashAt(lowest) === parents.at(-1);
    const kept = isKnown ? this.hashes.slice(0, Number(lowest - this.from)) : [];
    const hashes = [...kept, ...parents.toReversed(), hash];
    const from = isKnown ? this.from : lowest;
    const cut = Math.max(0, hashes.length - MAX_BLOCKS);
    return new ChainTail(from + BigInt(cut), hashes.slice(cut));
  }

  /**
   * What became of these blocks when the chain is another branch.
   *
   * @returns the lowest height whose block is replaced, `UNKNOWN_HEIGHT` when lower ones than can be told may be, else null
   */
  replacedFrom(next: ChainTail): bigint | null {
    const [first = 0n] = [this.from, next.from].sort((a, b) => Number(b - a));
    if (this.hashes.length === 0) return null;
    for (let height = first; height <= this.top; height += 1n) {
      if (this.hashAt(height) === next.hashAt(height)) continue;
      return height === first && first > this.from ? UNKNOWN_HEIGHT : height;
    }
    return first > this.top ? UNKNOWN_HEIGHT : null;
  }

  /** Hashes below the head, the nearest first, as far as the block that another branch shares, if it is near. */
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
    return this.from + BigInt(this.hashes.length) - 1n;
  }
}
