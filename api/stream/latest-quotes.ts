import type { Address, Hex } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { isSameQuote } from '../quotes/quote-body.ts';

/** What is known of a pool at a block: its quote, or why it has none. */
export interface LatestQuote {
  readonly outcome: Snapshot | SnapshotError;
  /** Number of the block at which it became so. */
  readonly changedAt: bigint;
  /** Differs after each change, from 1. */
  readonly version: number;
}

/** Blocks that connections can resume after: of a chain with a block a second, those of four minutes. */
const FOLLOWED_BLOCKS = 256;

/**
 * The requested pools at the last block that was read, of one kind of quotes, and the numbers of the blocks before it.
 *
 * Invariant: what changed since a followed block was read has a `changedAt` that is no lower than its number.
 */
export class LatestQuotes {
  /** Undefined before the first read, and after nothing was requested for a while. */
  block: BlockRef | undefined;
  /** That block and those below it. */
  branch = ChainTail.EMPTY;
  #quotes = new Map<Address, LatestQuote>();
  #version = 0;
  readonly #followed = new Map<Hex, bigint>();

  /** Undefined when the pool is not read yet. */
  get(pool: Address): LatestQuote | undefined {
    return this.#quotes.get(pool);
  }

  /** Takes what was read at a block; a new block leaves out what is no longer requested. */
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
      const { changedAt, version } = isSame ? known : { changedAt: block.number, version: this.#version };
      this.#quotes.set(pool, { outcome, changedAt, version });
    }
  }

  /** The number of a block if all that changed since is known; blocks that a reorganisation replaced are not. */
  followedBlock(hash: string): bigint | undefined {
    return this.#followed.get(hash as Hex);
  }

  /** Nothing is requested any more. */
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

/** Whether any process that reads this pool at this block gets the same. */
export const isRead = ({ outcome }: LatestQuote): boolean =>
  !(outcome instanceof SnapshotError) && outcome.status !== 'internal_error';

function isSameOutcome(one: LatestQuote['outcome'], other: LatestQuote['outcome']): boolean {
  if (one instanceof SnapshotError) return other instanceof SnapshotError && one.code === other.code;
  return !(other instanceof SnapshotError) && isSameQuote(one, other);
}
