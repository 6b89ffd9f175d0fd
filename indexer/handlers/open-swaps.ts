import type { Address, Hex } from 'viem';
import type { BinSwapped, PackedBinSwapped } from '../../protocol/pool-events.ts';
import type { LogReference } from './context.ts';

/** One bin's part of a swap, with the place of its own log. */
export type Placed<Part> = Part & { readonly logIndex: number };

interface OpenSwap<Part> {
  readonly transactionHash: Hex;
  readonly parts: Placed<Part>[];
}

/**
 * Bin parts of swaps whose `Swap` log is still to come: a pool logs them just before it, in the same transaction. They
 * are held in memory, which saves half of the database work of a swap. Nothing can be lost with the process: Ponder
 * indexes and commits whole blocks. A block that is indexed again begins its parts anew.
 */
export class OpenSwaps<Part extends BinSwapped | PackedBinSwapped> {
  readonly #byPool = new Map<string, OpenSwap<Part>>();

  add({ chainId, transactionHash, logIndex }: LogReference, pool: Address, event: Part): void {
    const key = keyOf(chainId, pool);
    const open = this.#byPool.get(key);
    const part = { logIndex, ...event };
    const goesOn = open?.transactionHash === transactionHash && lastIndex(open) < logIndex;
    if (goesOn) open.parts.push(part);
    else this.#byPool.set(key, { transactionHash, parts: [part] });
  }

  /** The parts of the swap that was logged here, which is open no more; none when no bin took part in it. */
  take({ chainId, transactionHash, logIndex }: LogReference, pool: Address): readonly Placed<Part>[] {
    const key = keyOf(chainId, pool);
    const open = this.#byPool.get(key);
    if (open === undefined) return [];
    this.#byPool.delete(key);
    return open.transactionHash === transactionHash && lastIndex(open) < logIndex ? open.parts : [];
  }
}

function keyOf(chainId: number, pool: Address): string {
  return `${chainId}:${pool}`;
}

function lastIndex({ parts }: OpenSwap<unknown>): number {
  return parts.at(-1)?.logIndex ?? -1;
}
