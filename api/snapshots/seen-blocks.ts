import { LRUCache } from 'lru-cache';
import type { BlockRef } from '../../chain/chain-rpc.ts';

/** When no node knows a block as high as the last one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
const REMEMBERED_BLOCKS = 256;

/** The blocks that were seen as heads, by height: of one chain, without the blocks that were replaced. */
export class SeenBlocks {
  readonly #hashes = new LRUCache<bigint, string>({ max: REMEMBERED_BLOCKS });
  #behindSince: number | undefined;

  /** Whether a block is the head instead of `last`: it is higher, or replaces one that was seen. */
  isAfter(last: BlockRef, block: BlockRef): boolean {
    // The last one may be one to which the head went back, and no longer be remembered.
    const isOtherThanLast = block.number === last.number && block.hash !== last.hash;
    return block.number > last.number || isOtherThanLast || this.#hasOther(block);
  }

  /** Whether nodes that were asked have known no block as high as `last` for long. */
  isRolledBack(last: BlockRef, block: BlockRef, now: number): boolean {
    if (block.number === last.number) {
      this.#behindSince = undefined;
      return false;
    }
    this.#behindSince ??= now;
    return now - this.#behindSince >= ROLLBACK_MS;
  }

  /**
   * Adds a block as the highest; those that were seen above it, or at its height, are replaced.
   *
   * @returns the lowest height whose block is known to be replaced, else null
   */
  add(block: BlockRef): bigint | null {
    this.#behindSince = undefined;
    let replacedFrom: bigint | null = null;
    for (const number of [...this.#hashes.keys()].filter((each) => each > block.number)) {
      this.#hashes.delete(number);
      replacedFrom = block.number + 1n;
    }
    if (this.#hasOther(block)) replacedFrom = block.number;
    this.#hashes.set(block.number, block.hash);
    return replacedFrom;
  }

  #hasOther({ number, hash }: BlockRef): boolean {
    const known = this.#hashes.peek(number);
    return known !== undefined && known !== hash;
  }
}
