import type { Hex } from 'viem';
import type { HeadFeed } from '../../chain/head-feed/head-feed.ts';

/** A block as a node returned it. */
type PolledBlock = { readonly hash: Hex; readonly number: Hex; readonly timestamp: Hex };

/** Polls the heads of a chain, and takes those that were polled or pushed. */
export interface HeadTaker<Block extends PolledBlock = PolledBlock> {
  /** Asks a node for its newest block. */
  readonly poll: () => Promise<Block>;
  /** Takes a block that was polled. */
  readonly onBlock: (block: Block) => unknown;
  /** Takes a header that a socket pushed. @throws when it lacks a field */
  readonly onHeader: (header: Readonly<Record<string, unknown>>) => unknown;
  /** Takes the error of a poll that failed, or of a header that could not be used. */
  readonly onError: (error: unknown) => void;
}

export interface HeadPace {
  readonly blockTimeMs: number;
  /** Pause after a poll that failed or found no new block. */
  readonly retryMs: number;
}

/** A poll comes this part of a block time before the next block is due, so that polls approach the time of blocks. */
const EARLY_PART = 0.05;

/**
 * Passes on the heads of a chain. Sockets push them; while no socket does, a node is polled. As a rule there is one
 * poll per block: the next poll comes when the next block is due.
 *
 * @returns stops it
 */
export function followHeads<Block extends PolledBlock>(
  taker: HeadTaker<Block>,
  pace: HeadPace,
  feed: HeadFeed | undefined,
): () => void {
  const { blockTimeMs, retryMs } = pace;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let lastHash = '';
  let hasPolled = false;
  let isUsable = feed !== undefined;

  const poll = async (): Promise<number> => {
    const startedAt = performance.now();
    try {
      const block = await taker.poll();
      if (isStopped) return retryMs;
      const isNew = block.hash !== lastHash;
      lastHash = block.hash;
      hasPolled = true;
      feed?.note({ number: BigInt(block.number), hash: block.hash, timestamp: BigInt(block.timestamp) });
      taker.onBlock(block);
      if (!isNew) return retryMs;
    } catch (error) {
      if (!isStopped) taker.onError(error);
      return retryMs;
    }
    return Math.max(retryMs, blockTimeMs * (1 - EARLY_PART) - (performance.now() - startedAt));
  };
  const wake = async () => {
    const pauseMs = hasPolled && isUsable && feed?.isLive ? retryMs : await poll();
    if (!isStopped) timer = setTimeout(wake, pauseMs);
  };

  const stopListening = feed?.onHead(({ header, block }) => {
    // A poll comes first: it shows which sockets lag.
    if (!hasPolled || !isUsable) return;
    try {
      taker.onHeader(header);
      lastHash = block.hash;
    } catch (error) {
      isUsable = false; // The headers lack what Ponder needs: from now on, only polls follow the chain.
      taker.onError(error);
    }
  });
  void wake();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    stopListening?.();
  };
}
