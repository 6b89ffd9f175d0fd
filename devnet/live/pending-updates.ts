import type { Address, Hex } from 'viem';
import type { QuoteUpdate } from './maker.ts';
import type { PendingBlock } from './pending-block.ts';
import type { StateDiff } from './registry.ts';

/** An update is for another block than the one being built. */
export class OtherBlockError extends Error {
  readonly code = 'OTHER_BLOCK';
  override readonly name = 'OtherBlockError';
}

/** The newest update of each feed of each venue, for the block being built, and swaps that need them. */
export class PendingUpdates {
  #block: PendingBlock;
  #swaps: readonly Hex[] = [];
  readonly #newest = new Map<string, QuoteUpdate>();

  constructor(block: PendingBlock) {
    this.#block = block;
  }

  get block(): PendingBlock {
    return this.#block;
  }

  /** Drops all updates: they were for another block. */
  startBlock(block: PendingBlock): void {
    this.#block = block;
    this.#newest.clear();
  }

  /** @throws OtherBlockError when the update is for another block, or for another time of this one */
  submit(update: QuoteUpdate): void {
    const { number, timeSecs } = update.block;
    if (number !== this.#block.number || timeSecs !== this.#block.timeSecs) {
      throw new OtherBlockError(`the update is for block ${number}, the builder builds ${this.#block.number}`);
    }
    this.#newest.set(key(update), update);
  }

  /** Takes back what was submitted for a feed. */
  cancel(feed: Pick<QuoteUpdate, 'venue' | 'feedId'>): void {
    this.#newest.delete(key(feed));
  }

  /** Takes a signed transaction that needs updates, for the next block that is built. */
  addSwap(transaction: Hex): void {
    this.#swaps = [...this.#swaps, transaction];
  }

  /** Gives each swap once: one that the node rejects fails one block alone. */
  takeSwaps(): readonly Hex[] {
    const swaps = this.#swaps;
    this.#swaps = [];
    return swaps;
  }

  all(): readonly QuoteUpdate[] {
    return [...this.#newest.values()];
  }

  of(feedIds: readonly Hex[]): readonly QuoteUpdate[] {
    return this.all().filter(({ feedId }) => feedIds.includes(feedId));
  }
}

const key = ({ venue, feedId }: Pick<QuoteUpdate, 'venue' | 'feedId'>) => `${venue} ${feedId}`;

/** Words of several accounts. */
export type AccountWords = Readonly<Record<Address, StateDiff>>;

/** The words of updates by account. */
export function accountWords(updates: readonly QuoteUpdate[]): AccountWords {
  const byAccount = Map.groupBy(updates, ({ account }) => account);
  return Object.fromEntries(
    [...byAccount].map(([account, own]) => [account, Object.assign({}, ...own.map(({ words }) => words))]),
  );
}

/** The words of updates by venue. Venues may share an account. */
export function venueWords(updates: readonly QuoteUpdate[]): ReadonlyMap<Address, AccountWords> {
  const byVenue = Map.groupBy(updates, ({ venue }) => venue);
  return new Map([...byVenue].map(([venue, own]) => [venue, accountWords(own)]));
}
