import type { BlockRef } from '../../chain/read-context.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { PoolDirectory, PoolTable } from '../../quoting/pools/pool-directory.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import type { WarmResult } from '../../quoting/requested/warm-result.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { throwUnavailable } from '../errors.ts';
import { LatestQuotes } from './latest-quotes.ts';

/** What quotes of one basis come from. */
type QuoteSource = Pick<Chain, 'heads' | 'requested' | 'warmer'>;
/** A chain whose quotes are followed. */
export type FollowedChain = Pick<Chain, 'chainId'> & QuoteSource;
/** By chain and basis. Without a source of live prices both are the same. */
export type QuotesByChain = ReadonlyMap<number, Readonly<Record<Basis, ChainQuotes>>>;

/** A connection that opens while pools are read at a new head waits for at most as long as such a read takes. */
const READ_MS = 3_000;

/** Called when pools were read. `isNewBlock`: these are the first of their kind at the block. Must not throw. */
type OnRead = (read: WarmResult, isNewBlock: boolean) => void;

/** The latest quotes of the requested pools of one chain and basis: streams send them, frames show them. */
export class ChainQuotes {
  readonly chain: FollowedChain;
  readonly #directory: PoolDirectory;
  readonly prices = new LatestQuotes();
  readonly depths = new LatestQuotes();
  readonly #listeners = new Set<OnRead>();
  /** Called after each result of the warmer. */
  readonly #waits = new Set<() => void>();

  constructor(chain: FollowedChain, directory: PoolDirectory) {
    this.chain = chain;
    this.#directory = directory;
    chain.warmer.onResult((read) => {
      if (read) this.#take(read);
      else for (const latest of [this.prices, this.depths]) latest.clear();
      for (const check of this.#waits) check();
    });
  }

  /** @returns removes the listener */
  onRead(listener: OnRead): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Gives the served pools, and the head before anything is read. Waits until no quotes are of an older block than that
   * of any process, as far as is known.
   *
   * @throws ApiError 503 when the pools or the head are not known
   */
  async ready(): Promise<{ readonly table: PoolTable; readonly head: BlockRef }> {
    const { heads } = this.chain;
    const table = await this.#directory.table();
    await heads.caughtUp();
    const { block: head } = await heads.head().catch(throwUnavailable);
    await this.#reached(head.number);
    return { table, head };
  }

  /** Resolves when no quotes are held of a block below a height, or `READ_MS` later. */
  async #reached(height: bigint): Promise<void> {
    const isBelow = () => [this.prices, this.depths].some(({ block }) => block && block.number < height);
    if (!isBelow()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => isBelow() || resolve();
    this.#waits.add(check);
    await withTimeout(promise, READ_MS).catch(() => undefined);
    this.#waits.delete(check);
  }

  #take(read: WarmResult): void {
    const { kind, block } = read;
    const isNewBlock = this[kind].block?.hash !== block.hash;
    this[kind].take(read);
    for (const listener of this.#listeners) listener(read, isNewBlock);
  }
}

/** Follows the quotes of all chains. */
export function followQuotes(
  chains: ReadonlyMap<number, FollowedChain & { readonly liveQuotes?: QuoteSource | undefined }>,
  directory: PoolDirectory,
): QuotesByChain {
  return new Map(
    [...chains].map(([chainId, { liveQuotes, ...chain }]) => {
      const committed = new ChainQuotes(chain, directory);
      const live = liveQuotes && new ChainQuotes({ chainId, ...liveQuotes }, directory);
      return [chainId, { committed, live: live ?? committed }];
    }),
  );
}
