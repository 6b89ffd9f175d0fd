import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { type Chain, quotesOf } from '../../quoting/open-chain.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { isExhausted } from '../../quoting/snapshot-error.ts';
import type { ChainSnapshots, DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import { throwUnavailable, unavailable } from '../errors.ts';

/** Quotes of one basis of a chain. */
export type LevelQuotes = Pick<Chain, 'requested' | 'heads'> & {
  readonly snapshots: Pick<ChainSnapshots, 'depths' | 'isRead'>;
};

/** A state of a chain, and what reads it. */
export interface ChainState {
  readonly head: ReportedHead;
  readonly quotes: LevelQuotes;
  /** Ends the wait for reads. */
  readonly signal: AbortSignal;
}

/**
 * Reads an answer at a state.
 *
 * @returns null when it cannot be read there: all answers are then read at another state
 * @throws ApiError
 */
export type ReadAt<T> = (state: ChainState) => Promise<T | null>;

/** Reads the depth of pools at a state. A scheduled read that has no calls is made for this answer. */
export async function readDepths(
  { head, quotes: { snapshots }, signal }: ChainState,
  pools: readonly ServedPool[],
): Promise<SnapshotMap<DepthSnapshot>> {
  const outcomes = new Map(await snapshots.depths(pools, { at: head, signal }));
  const unbudgeted = pools.filter(({ address }) => isExhausted(outcomes.get(address)));
  if (unbudgeted.length > 0)
    for (const each of await snapshots.depths(unbudgeted, { at: head, signal })) outcomes.set(...each);
  return outcomes;
}

/**
 * Live prices change while pools are read: how often answers are read at a state, the last time that of the last block.
 */
const TRIES = 4;
const DEADLINE_MS = 20_000;

/** Answers that are all of one state of a chain. */
export class OneState {
  readonly #chain: LevelQuotes & { readonly liveQuotes?: LevelQuotes | undefined };
  readonly #basis: Basis;
  readonly #reads: ((state: ChainState) => Promise<boolean>)[] = [];
  #done: Promise<void> | undefined;

  /** @param basis of the answers; where a block being built does not hold long enough, they are of the last block */
  constructor(chain: LevelQuotes & { readonly liveQuotes?: LevelQuotes | undefined }, basis: Basis) {
    this.#chain = chain;
    this.#basis = basis;
  }

  /**
   * Adds an answer.
   *
   * @returns gives it, to be called when all are added. It throws ApiError 503, and what `read` throws
   */
  add<T>(read: ReadAt<T>): () => Promise<T> {
    let answer: Promise<T | null> = Promise.resolve(null);
    this.#reads.push((state) => {
      answer = read(state);
      return answer.then(
        (value) => value !== null,
        () => true,
      );
    });
    return async () => {
      this.#done ??= this.#readAll();
      await this.#done;
      const value = await answer;
      if (value === null) throw unavailable(new Error('the chain changed during each of several reads'));
      return value;
    };
  }

  async #readAll(): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const quotes = quotesOf<LevelQuotes>(this.#chain, tries < TRIES ? this.#basis : 'committed');
      await quotes.heads.caughtUp();
      const head = await quotes.heads.head().catch(throwUnavailable);
      const isRead = await Promise.all(this.#reads.map((read) => read({ head, quotes, signal })));
      if (isRead.every(Boolean) && holds(quotes, head)) return;
    }
  }
}

/** Whether a head is not that of a block being built which landed or was withdrawn. */
const holds = ({ heads }: LevelQuotes, { block }: ReportedHead): boolean =>
  !block.pending || (heads.current?.block.pending !== undefined && !heads.isTooOld(block));
