import type { Address, Hex } from 'viem';
import type { BinSwapped, PackedBinSwapped } from '../../protocol/pool-events.ts';
import type { LogReference } from './context.ts';

/** The part that one bin had in a swap, with the index of its own log. */
export type Placed<Part> = Part & { readonly logIndex: number };

interface OpenSwap<Part> {
  readonly transactionHash: Hex;
  readonly parts: Placed<Part>[];
}

/**
 * Holds the bin parts of swaps whose `Swap` log is still to come: a pool logs the parts just before it, in the same
 * transaction. Memory saves half of the database work of a swap. A process that ends loses nothing: Ponder indexes and
 * commits whole blocks. When a block is indexed again, its parts start from scratch.
 */
export class OpenSwaps<Part extends BinSwapped | PackedBinSwapped> {
  readonly #byPool = new Map<string, OpenSwap<Part>>();

  add(reference: LogReference, pool: Address, event: Part): void {
    const { chainId, transactionHash, logIndex } = reference;
    const parts = this.#partsBefore(reference, pool);
    parts.push({ logIndex, ...event });
    if (parts.length === 1) this.#byPool.set(`${chainId}:${pool}`, { transactionHash, parts });
  }

  /** Removes and returns the parts of the swap that was logged here; empty when no bin took part in it. */
  take(reference: LogReference, pool: Address): readonly Placed<Part>[] {
    const parts = this.#partsBefore(reference, pool);
    this.#byPool.delete(`${reference.chainId}:${pool}`);
    return parts;
  }

  #partsBefore({ chainId, transactionHash, logIndex }: LogReference, pool: Address): Placed<Part>[] {
    const open = this.#byPool.get(`${chainId}:${pool}`);
    const isSameSwap = open?.transactionHash === transactionHash && (open.parts.at(-1)?.logIndex ?? -1) < logIndex;
    return isSameSwap ? open.parts : [];
  }
}
