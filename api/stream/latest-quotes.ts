import type { Address, Hex } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { isSameQuote } from '../quotes/quote-body.ts';

/** What is known of a pool at a block: its quote, or why it has none. */
export interface LatestQuote {
  readonly outcome: Snapshot | SnapshotError;
  /** The first outcome of this version: clients see the same quote in it. */
  readonly first: Snapshot | SnapshotError;
  /** Number of the block at which the outcome last changed. */
  readonly changedAt: bigint;
  /** Differs after each change; counts from 1. */
  readonly version: number;
}

/** After how many blocks connections can resume: four minutes on a chain with one block a second. */
const FOLLOWED_BLOCKS = 256;

/**
 * Holds one kind of quotes of the requested pools at the last block that was read, and the numbers of earlier blocks.
 *
 * Invariant: a quote that changed since a followed block was read has a `changedAt` of at least that block's number.
 */
export class LatestQuotes {
  /** The last block that was read; undefined before the first read, and again once nothing is requested. */
  block: BlockRef | undefined;
  /** That block and the blocks below it. */
  branch = ChainTail.EMPTY;
  #quotes = new Map<Address, LatestQuote>();
  #version = 0;
  readonly #followed = new Map<Hex, bigint>();

  /** Undefined when the pool is not read yet. */
  get(pool: Address): LatestQuote | undefined {
    return this.#quotes.get(pool);
  }

  /** Takes what was read at a block. A new block drops pools that are no longer requested. */
  take(block: BlockRef, branch: ChainTail, outcomes: ReadonlyMap<Address, LatestQuote['outcome']>): void {
    const before = this.#quotes;
    if (this.block?.hash !== block.hash) this.#quotes = new Map();
    this.block = block;
    this.branch = branch;
    this.#follow(block);
    for (const [pool, outcome] of outcomes) {
      const known = before.get(pool);
      const isSame = known !== undefined && isSameOutcome(known.outcome, outcome);
      if (!isSame) this.#version += 1;
      const changed = { first: outcome, changedAt: block.number, version: this.#version };
      this.#quotes.set(pool, { ...(isSame ? known : changed), outcome });
    }
  }

  /** The number of a block if all changes since are known; undefined for blocks that a reorganisation replaced. */
  followedBlock(hash: string): bigint | undefined {
    return this.#followed.get(hash as Hex);
  }

  /** To be called when nothing is requested any more. */
  clear(): void {
    this.block = undefined;
    this.branch = ChainTail.EMPTY;
    this.#quotes.clear();
  }

  #follow({ hash, number }: BlockRef): void {
    for (const [other, itsNumber] of this.#followed) if (itsNumber >= number) this.#followed.delete(other);
    this.#followed.set(hash, number);
    const [oldest] = this.#followed.keys();
    if (oldest && this.#followed.size > FOLLOWED_BLOCKS) this.#followed.delete(oldest);
  }
}

/** Whether every process that reads this pool at this block gets the same outcome. */
export const isRead = ({ outcome }: LatestQuote): boolean =>
  !(outcome instanceof SnapshotError) && outcome.status !== 'internal_error';

function isSameOutcome(one: LatestQuote['outcome'], other: LatestQuote['outcome']): boolean {
  if (one instanceof SnapshotError) return other instanceof SnapshotError && one.code === other.code;
  return !(other instanceof SnapshotError) && isSameQuote(one, other);
}
