import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { isSameQuote } from '../quotes/quote-body.ts';
import { type Snapshot, SnapshotError } from '../snapshots/types.ts';
import type { WarmResult } from '../warming/block-warmer.ts';

/** A pool as the last result left it. */
export interface BoardEntry {
  readonly outcome: Snapshot | SnapshotError;
  /** Since when it is so, by the `seq` of its stream. */
  readonly changedSeq: number;
}

/** What is known of the requested pools at the last block that was read, of one kind of quotes. */
export class Board {
  #block: BlockRef | undefined;
  #entries = new Map<Address, BoardEntry>();

  /** Undefined before the first result, and after nothing was requested for a while. */
  get block(): BlockRef | undefined {
    return this.#block;
  }

  get(pool: Address): BoardEntry | undefined {
    return this.#entries.get(pool);
  }

  /** Takes a result; a new block leaves out what is not requested any more. @returns the pools that changed */
  take({ block, outcomes }: Pick<WarmResult, 'block' | 'outcomes'>, seq: number): Address[] {
    const before = this.#entries;
    if (this.#block?.hash !== block.hash) this.#entries = new Map();
    this.#block = block;
    const changed: Address[] = [];
    for (const [pool, outcome] of outcomes) {
      const known = before.get(pool);
      const isSame = known !== undefined && isSameOutcome(known.outcome, outcome);
      if (!isSame) changed.push(pool);
      this.#entries.set(pool, { outcome, changedSeq: isSame ? known.changedSeq : seq });
    }
    return changed;
  }

  clear(): void {
    this.#block = undefined;
    this.#entries.clear();
  }
}

function isSameOutcome(one: BoardEntry['outcome'], other: BoardEntry['outcome']): boolean {
  if (one instanceof SnapshotError || other instanceof SnapshotError) {
    return one instanceof SnapshotError && other instanceof SnapshotError && one.code === other.code;
  }
  return isSameQuote(one, other);
}
