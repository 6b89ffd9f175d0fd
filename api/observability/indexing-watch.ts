import { finalityBlocks } from '../../chain/finality.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { FirstSync } from '../../db/first-sync.ts';
import type { BlockPoint } from '../../db/indexed-blocks.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { Clock } from '../../runtime/clock.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type ChainLag, describeLag, type FirstSyncProgress, type IndexState } from './chain-lag.ts';
import { mayBeHead, NOTHING_KNOWN, nextWatched, type Watched } from './next-watched.ts';

type Head = Pick<BlockRef, 'number' | 'timestamp'>;
type WatchedChain = Pick<Chain, 'chainId' | 'name' | 'blockTimeMs' | 'deployments'> & {
  readonly heads: {
    /** The head if it is known without a call to a node. */
    readonly announced: { readonly block: Head } | undefined;
    /** Calls a node if the head is not known. */
    head(): Promise<{ readonly block: Head }>;
  };
};

export type IndexingWatchDeps = {
  readonly chains: readonly WatchedChain[];
  /** A chain counts as stalled when its index has not followed it for longer than this. */
  readonly maxLagSecs: number;
  /** How far nodes may be behind the index, in milliseconds. Further behind, quotes are too old. */
  readonly maxQuoteAgeMs: (chain: WatchedChain) => number;
  readonly readIndexed: () => Promise<ReadonlyMap<number, BlockPoint>>;
  /** Called while there is a chain without an index. */
  readonly readFirstSyncs: () => Promise<ReadonlyMap<number, FirstSync>>;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
};

/** A node or a database that takes longer counts as unavailable in this poll, so that no chain waits for another. */
const TIMEOUT_MS = 1_500;
/**
 * Compares the index of every chain with the chain's head at each {@link poll}, so that `/ready` and `/metrics` only
 * show what is known already. It calls a node only if the head is not known otherwise: an indexed block that is young
 * enough to be the newest counts as the head.
 */
export class IndexingWatch {
  readonly #deps: IndexingWatchDeps;
  readonly #watched = new Map<number, Watched>();
  #firstSyncs: ReadonlyMap<number, FirstSync> | null = null;
  #state: IndexState = null;

  constructor(deps: IndexingWatchDeps) {
    this.#deps = deps;
  }

  /** Polls all chains once. Never rejects: whatever does not answer counts as unknown. */
  async poll(): Promise<void> {
    const { maxLagSecs, maxQuoteAgeMs, wallClock } = this.#deps;
    const indexed = await valueOrNull(this.#deps.readIndexed());
    const isAnyMissing = this.#deps.chains.some(({ chainId }) => !indexed?.has(chainId));
    this.#firstSyncs = isAnyMissing ? await valueOrNull(this.#deps.readFirstSyncs()) : null;
    this.#state = indexed ? 'served' : this.#firstSyncs && 'first sync';
    const pollChain = async (chain: WatchedChain) => {
      const newest = indexed?.get(chain.chainId) ?? null;
      const poll = { indexed: newest, head: await this.#headOf(chain, newest) };
      const { blockTimeMs, chainId } = chain;
      const bounds = { blockTimeMs, maxLagMs: maxLagSecs * 1_000, maxQuoteAgeMs: maxQuoteAgeMs(chain) };
      this.#watched.set(chainId, nextWatched(this.#watched.get(chainId), poll, wallClock(), bounds));
    };
    await Promise.all(this.#deps.chains.map(pollChain));
  }

  /** What the last poll saw. */
  lags(): readonly ChainLag[] {
    return this.#deps.chains.map(({ chainId, name, blockTimeMs, deployments }) => {
      const { indexed, head, stalled } = this.#watched.get(chainId) ?? NOTHING_KNOWN;
      return {
        chainId,
        name,
        indexedBlock: indexed?.number ?? null,
        indexedTimestamp: indexed?.timestamp ?? null,
        headBlock: head?.number ?? null,
        lagBlocks: indexed && head && head.number - indexed.number,
        lagSecs: indexed && head && Math.max(0, head.timestamp - indexed.timestamp),
        stalled,
        finalityBlocks: finalityBlocks(chainId),
        finalitySecs: Math.round((finalityBlocks(chainId) * blockTimeMs) / 1_000),
        firstSync: this.#firstSyncOf(chainId, deployments),
      };
    });
  }

  #firstSyncOf(chainId: number, deployments: WatchedChain['deployments']): FirstSyncProgress | null {
    const found = this.#firstSyncs?.get(chainId);
    if (found === undefined || this.#watched.get(chainId)?.indexed) return null;
    const starts = deployments.filter(({ enabled }) => enabled).map(({ fromBlock }) => fromBlock);
    return { fromBlock: Math.min(...starts), blockNumber: found.blockNumber, logs: found.logs };
  }

  /** Why the index is not ready, with ids of the chains; null when it follows all. Makes the first poll if needed. */
  readonly check = async (): Promise<string | null> => {
    if (this.#watched.size === 0) await this.poll();
    const stalled = this.lags().filter((lag) => lag.stalled);
    return stalled.length === 0 ? null : stalled.map((lag) => describeLag(lag, this.#state)).join('; ');
  };

  /** Finds the head; null when no node gives it. */
  async #headOf({ heads, blockTimeMs }: WatchedChain, indexed: BlockPoint | null): Promise<BlockPoint | null> {
    if (heads.announced) return pointOf(heads.announced.block);
    if (indexed && mayBeHead(indexed, this.#deps.wallClock(), blockTimeMs)) return indexed;
    return valueOrNull(heads.head().then(({ block }) => pointOf(block)));
  }
}

const pointOf = ({ number, timestamp }: Head): BlockPoint => ({ number: Number(number), timestamp: Number(timestamp) });

/** Null for a failure, which shows in `/ready` and in the counters of chain calls. The next poll comes soon. */
const valueOrNull = <T>(value: Promise<T>): Promise<T | null> => withTimeout(value, TIMEOUT_MS).catch(() => null);
