import type { ChainConfig } from '../../config/chains-schema.ts';
import type { BlockPoint } from '../../db/indexed-blocks.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type ChainLag, type ChainLook, isFollowing, isYoung, lagBetween } from './chain-lag.ts';

type WatchedChain = Pick<ChainConfig, 'chainId' | 'name' | 'blockTimeMs'>;

export type IndexingWatchDeps = {
  readonly chains: readonly WatchedChain[];
  /** A chain counts as stalled when its index has not followed it for longer than this. */
  readonly maxLagSecs: number;
  readonly readIndexed: () => Promise<ReadonlyMap<number, BlockPoint>>;
  /** The head of a chain if it is known without asking a node. */
  readonly knownHead: (chainId: number) => BlockPoint | undefined;
  /** Asks a node. */
  readonly readHead: (chainId: number) => Promise<BlockPoint>;
  readonly logger: Logger;
  /** Milliseconds. */
  readonly now?: () => number;
};

type Watched = ChainLook & {
  /** When the index was last seen to follow the chain; null when never. */
  readonly followedAt: number | null;
  readonly stalled: boolean;
};

const LOOK_EVERY_MS = 1_000;
/** A node or a database that takes longer counts as silent in this look, so that no chain waits for another. */
const PATIENCE_MS = 1_500;

/**
 * Compares the index of every chain with the chain's head, once a second, so that `/ready` and `/metrics` only look at
 * what is known already. A node is asked only when nothing else tells that the index is near the head: a block that is as
 * young as the newest one counts as it.
 */
export class IndexingWatch {
  readonly #deps: IndexingWatchDeps;
  readonly #now: () => number;
  readonly #watched = new Map<number, Watched>();
  #stopLooking: (() => void) | undefined;

  constructor(deps: IndexingWatchDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
  }

  /** Looks again and again until {@link stop}. */
  start(): void {
    this.#stopLooking = startRepeating(() => this.look(), LOOK_EVERY_MS);
  }

  stop(): void {
    this.#stopLooking?.();
  }

  /** One look at all chains. Never rejects: what does not answer is unknown. */
  async look(): Promise<void> {
    const { chains, readIndexed } = this.#deps;
    const indexed = await answerOrNull(readIndexed());
    const look = async (chain: WatchedChain) => {
      const newest = indexed?.get(chain.chainId) ?? null;
      this.#judge(chain, { indexed: newest, head: await this.#headOf(chain, newest) });
    };
    await Promise.all(chains.map(look));
  }

  /** Null when no node tells it. */
  async #headOf(chain: WatchedChain, indexed: BlockPoint | null): Promise<BlockPoint | null> {
    const { knownHead, readHead } = this.#deps;
    const known = knownHead(chain.chainId);
    if (known) return known;
    if (indexed && isYoung(indexed, chain.blockTimeMs, this.#now())) return indexed;
    return answerOrNull(readHead(chain.chainId));
  }

  /** What the last look saw. */
  lags(): readonly ChainLag[] {
    return this.#deps.chains.map(({ chainId, name }) => {
      const seen = this.#watched.get(chainId);
      const look = seen ?? { indexed: null, head: null };
      return {
        chainId,
        name,
        indexedBlock: look.indexed?.number ?? null,
        indexedTimestamp: look.indexed?.timestamp ?? null,
        headBlock: look.head?.number ?? null,
        ...lagBetween(look),
        stalled: seen?.stalled ?? true,
      };
    });
  }

  /** Why the index is not ready, naming the chains; null when it follows all of them. */
  readonly check = async (): Promise<string | null> => {
    const stalled = this.lags().filter((lag) => lag.stalled);
    return stalled.length === 0 ? null : stalled.map(describe).join('; ');
  };

  #judge(chain: WatchedChain, look: ChainLook): void {
    const { maxLagSecs, logger } = this.#deps;
    const before = this.#watched.get(chain.chainId);
    const following = isFollowing(before, look, { ...chain, maxLagSecs });
    const now = this.#now();
    const followedAt = following ? now : (before?.followedAt ?? null);
    const stalled = followedAt === null || now - followedAt > maxLagSecs * 1000;
    this.#watched.set(chain.chainId, { ...look, followedAt, stalled });
    if (before === undefined || before.stalled === stalled) return;
    const details = { chainId: chain.chainId, indexed: look.indexed?.number, head: look.head?.number };
    if (stalled) logger.error(details, 'the index of a chain no longer follows it');
    else logger.info(details, 'the index of a chain follows it again');
  }
}

function describe({ chainId, indexedBlock, headBlock, lagBlocks }: ChainLag): string {
  if (indexedBlock === null) return `chain ${chainId} is not indexed`;
  if (headBlock === null || lagBlocks === null) return `chain ${chainId}: no node tells its head`;
  if (lagBlocks < 0) return `chain ${chainId} is indexed ${-lagBlocks} blocks beyond its head`;
  return `chain ${chainId} is indexed ${lagBlocks} blocks behind its head`;
}

/** Failures show as unknown values, in `/ready` and in the counters of chain calls; the caller looks again soon. */
const answerOrNull = <T>(answer: Promise<T>): Promise<T | null> => withTimeout(answer, PATIENCE_MS).catch(() => null);
