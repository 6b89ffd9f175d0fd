import type { Address } from 'viem';
import { boundedCallsOnce, type ChainTarget } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { isBlockRefusal } from '../../chain/rpc-failure.ts';
import type { BoundedAnswer, BoundedCall, BoundedResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { type ClosedSides, type PoolPrice, poolPriceCalls, readPoolPrice } from '../calls/pool-price.ts';
import type { ProbedPool } from '../calls/probe-calls.ts';
import type { LiveBlock, PriceBlocks } from './live-blocks.ts';
import { type LiveAnswer, type RunCalls, readLiveCalls } from './live-calls.ts';

export interface PriceReaderDeps {
  readonly target: ChainTarget;
  /** Absent on a chain without a source of live prices. */
  readonly live?: PriceBlocks | undefined;
  /** Takes a call from the budget; false: none is left. */
  readonly reserve: () => boolean;
  /** Runs groups of calls as far as the budget allows. */
  readonly run: RunCalls;
  /** Sides that guards close, and sides whose tokens do not move. */
  readonly closedSides: (pool: Address) => ClosedSides;
}

/** The answer of a call at a committed block, and the block being built on it, as {@link PriceBlocks} give it. */
export type PriceAnswer = BoundedAnswer & { readonly head: LiveBlock | null | undefined };

/** What a call gave of a pool. */
export interface PriceResults {
  readonly pool: ProbedPool & { readonly isFunded: boolean };
  /** Begin with those of {@link poolPriceCalls}. */
  readonly results: readonly BoundedResult[];
  readonly answer: PriceAnswer;
}

export interface ReadPrice {
  /**
   * By the rule of quotes. Null when the pool has no price at the committed head, and could not be read in the block
   * that is being built. `tradesLive`: whether it trades there; null when not known.
   */
  readonly price: (PoolPrice & { readonly basis: 'committed' | 'live'; readonly tradesLive: boolean | null }) | null;
  /** Calls that were run in the block being built to know this. */
  readonly ranLive: readonly BoundedResult[];
}

/**
 * Reads prices alone, of many pools in one call. `PoolReader` reads what depth needs as well, in three.
 *
 * A pool without a price at the committed head is also read in the block that is being built: with a live price, it has
 * the status and prices of that. So are funded pools, of which is known then whether they trade there.
 */
export class PriceReader {
  readonly #deps: PriceReaderDeps;

  constructor(deps: PriceReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Sends calls at the committed head: where nodes refuse the block below the one that is being built,
   * at the latest block.
   */
  async send(calls: readonly BoundedCall[]): Promise<PriceAnswer> {
    const { live, reserve } = this.#deps;
    const head = await live?.now();
    if (!head) return this.#readAt('latest', calls, head);
    const { pending: _, ...committed } = head.block;
    try {
      const answer = await this.#readAt(committed, calls, head);
      live?.heads.confirm(head.block);
      return answer;
    } catch (error) {
      if (!isBlockRefusal(error) || !reserve()) throw error;
      live?.heads.reject(head);
      return this.#readAt('latest', calls, undefined);
    }
  }

  /** Gives the prices of pools that one call answered, in their order. */
  async prices(read: readonly PriceResults[]): Promise<ReadPrice[]> {
    const { live, run } = this.#deps;
    const committed = read.map(({ pool, results }) => this.#decode(pool, results));
    const also = read.filter(({ pool }, index) => committed[index]?.status === 'feed_down' || pool.isFunded);
    const head = read[0]?.answer.head;
    const found = head && live ? await readLiveCalls({ heads: live.heads, run }, head, also.map(liveCalls)) : [];
    const liveReads = new Map(also.map((each, index) => [each, found[index]]));
    return read.map((each, index) => {
      const liveRead = liveReads.get(each);
      return { price: this.#priceOf(each, committed[index] as PoolPrice, liveRead), ranLive: liveRead?.ran ?? [] };
    });
  }

  async #readAt(block: BlockRef | 'latest', calls: readonly BoundedCall[], head: PriceAnswer['head']) {
    return { ...(await boundedCallsOnce(this.#deps.target, { block }, calls)), head };
  }

  #priceOf({ pool, answer }: PriceResults, price: PoolPrice, liveRead: LiveAnswer | undefined): ReadPrice['price'] {
    const committed = { ...price, basis: 'committed' as const };
    if (!this.#deps.live) return { ...committed, tradesLive: null };
    // Without a block that is being built, no pool has a live price.
    if (answer.head === null) return { ...committed, tradesLive: false };
    if (!liveRead) return committed.status === 'feed_down' ? null : { ...committed, tradesLive: null };
    const live = liveRead.results && { ...this.#decode(pool, liveRead.results), basis: 'live' as const };
    const tradesLive = live?.status === 'healthy';
    return { ...(live && committed.status === 'feed_down' ? live : committed), tradesLive };
  }

  #decode({ address, layout }: ProbedPool, results: readonly BoundedResult[]): PoolPrice {
    return readPoolPrice(results, layoutAdapter(layout), this.#deps.closedSides(address));
  }
}

/**
 * The calls in the block being built. Plans the gas that a pool burned at the committed head,
 * where it is more than usual.
 */
function liveCalls({ pool, results: [price] }: PriceResults): BoundedCall[] {
  const [priceCall, ...others] = poolPriceCalls(pool);
  if (!priceCall) return others;
  return [{ ...priceCall, likelyGas: Math.max(priceCall.likelyGas, price?.gasUsed ?? 0) }, ...others];
}
