import type { BlockRef } from '../../chain/chain-rpc.ts';

/** When no node knows a block as high as the last one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
const REMEMBERED_BLOCKS = 256;

/** The blocks that were seen as heads, by height: of one chain, without the blocks that were replaced. */
export class SeenBlocks {
  readonly #hashes = new Map<bigint, string>();
  #behindSince: number | undefined;

  /** Whether a block is the head instead of `last`: it is higher, or the chain went back. */
  isAfter(last: BlockRef, block: BlockRef, now: number): boolean {
    if (block.number > last.number || this.#hasOther(block)) return true;
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
    for (const number of this.#hashes.keys()) {
      if (number <= block.number) continue;
      this.#hashes.delete(number);
      replacedFrom = block.number + 1n;
    }
    if (this.#hasOther(block)) replacedFrom = block.number;
    this.#hashes.set(block.number, block.hash);
    const oldest = this.#hashes.keys().next().value;
    if (this.#hashes.size > REMEMBERED_BLOCKS && oldest !== undefined) this.#hashes.delete(oldest);
    return replacedFrom;
  }

  #hasOther({ number, hash }: BlockRef): boolean {
    const known = this.#hashes.get(number);
    return known !== undefined && known !== hash;
  }
}
