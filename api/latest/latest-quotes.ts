import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Address, Hex } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import type { WarmResult } from '../../quoting/requested/warm-result.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';

/** What is known of a pool at a block: its quote, or why it has none. */
export interface LatestQuote {
  readonly outcome: Snapshot | SnapshotError;
  /** The first outcome of this version: clients see the same quote in it. */
  readonly first: Snapshot | SnapshotError;
  /** Differs after each change; counts from 1. */
  readonly version: number;
}

/** A block that was read. */
interface ReadBlock {
  readonly number: bigint;
  /** The highest version of a quote before anything was read at this block. */
  readonly version: number;
}

/** Names the basis of quotes that are all of the committed block, as {@link LatestQuotes.mark} names that of others. */
export const COMMITTED = 'committed';
/** After how many blocks connections can resume: four minutes on a chain with one block a second. */
const FOLLOWED_BLOCKS = 256;

/**
 * Holds one kind of quotes of the requested pools at the last block that was read, and what is known of earlier blocks.
 *
 * Invariant: a quote whose version is at most that of a followed block did not change at this block or since.
 */
export class LatestQuotes {
  /** The last block that was read; undefined before the first read, and again once nothing is requested. */
  block: BlockRef | undefined;
  /** That block and the blocks below it. */
  branch = ChainTail.EMPTY;
  #quotes = new Map<Address, LatestQuote>();
  #version = 0;
  readonly #followed = new Map<Hex, ReadBlock>();
  readonly #name = randomBytes(4).toString('hex');

  /** Undefined when the pool is not read yet. */
  get(pool: Address): LatestQuote | undefined {
    return this.#quotes.get(pool);
  }

  /** Takes what was read at a block, and drops pools that are no longer requested: they are not read again there. */
  take({ block, branch, requested, outcomes }: Pick<WarmResult, 'block' | 'branch' | 'requested' | 'outcomes'>): void {
    const before = this.#quotes;
    const last = this.block;
    const isSameBlock = last?.hash === block.hash;
    this.#quotes = new Map(isSameBlock ? [...before].filter(([pool]) => requested.has(pool)) : []);
    this.block = block;
    this.branch = branch;
    if (!isSameBlock) this.#follow(block, last);
    for (const [pool, outcome] of outcomes) {
      const known = before.get(pool);
      const isSame = known !== undefined && isSameOutcome(known.outcome, outcome);
      if (!isSame) this.#version += 1;
      const changed = { first: outcome, version: this.#version };
      this.#quotes.set(pool, { ...(isSame ? known : changed), outcome });
    }
  }

  /** Names what is held here now, for message ids: no other process has it, and no other basis. */
  get mark(): string {
    return `${this.#name}.${this.#version}`;
  }

  /**
   * Finds what a client has after a message.
   *
   * @param hash of its block
   * @param basis `COMMITTED`, or a {@link mark}; undefined in ids of releases that did not say
   * @returns the number of its block, and whether it has the quote that is held here now; undefined for a block that
   * was not read here, or that a reorganisation replaced
   */
  sentWith(hash: Hex, basis = ''): { readonly number: bigint; has(quote: LatestQuote): boolean } | undefined {
    const read = this.#followed.get(hash);
    if (!read) return undefined;
    const [name, mark] = basis.split('.');
    const version = basis === COMMITTED ? read.version : name === this.#name ? Number(mark) : 0;
    const has = (quote: LatestQuote) =>
      isRead(quote) && quote.version <= version && (basis !== COMMITTED || !isLive(quote));
    return { number: read.number, has };
  }

  /** To be called when nothing is requested any more. */
  clear(): void {
    this.block = undefined;
    this.branch = ChainTail.EMPTY;
    this.#quotes.clear();
  }

  #follow({ hash, number }: BlockRef, last: BlockRef | undefined): void {
    const version = this.#followed.get(hash)?.version ?? this.#version;
    // Nothing is followed above the last block.
    if (!last || number <= last.number)
      for (const [other, read] of this.#followed) if (read.number >= number) this.#followed.delete(other);
    this.#followed.set(hash, { number, version });
    const [oldest] = this.#followed.keys();
    if (oldest && this.#followed.size > FOLLOWED_BLOCKS) this.#followed.delete(oldest);
  }
}

/** Whether every process that reads this pool at this block gets the same outcome. */
export const isRead = ({ outcome }: LatestQuote): boolean =>
  !(outcome instanceof SnapshotError) && outcome.status !== 'internal_error';

/** Whether a quote is of the block that is being built. */
export const isLive = ({ outcome }: LatestQuote): boolean =>
  !(outcome instanceof SnapshotError) && outcome.block.pending !== undefined;

function isSameOutcome(one: LatestQuote['outcome'], other: LatestQuote['outcome']): boolean {
  if (one instanceof SnapshotError) return other instanceof SnapshotError && one.code === other.code;
  return !(other instanceof SnapshotError) && isSameQuote(one, other);
}

/** Whether clients see the same quote in both, apart from `serverTs`, ages and committed blocks. */
const isSameQuote = (one: Snapshot, other: Snapshot): boolean =>
  one === other || isDeepStrictEqual(shownOf(one), shownOf(other));

const shownOf = ({ pool, block, status, bidX64, askX64, balance0Raw, balance1Raw, depth }: Snapshot) => [
  block.pending?.blockNumber,
  block.pending?.timestamp,
  pool.pair,
  status,
  bidX64,
  askX64,
  balance0Raw,
  balance1Raw,
  depth,
];
