import type { Hex } from 'viem';
import type { HeadFeed } from '../../chain/head-feed/head-feed.ts';

/** A block as a node wrote it. */
type PolledBlock = { readonly hash: Hex; readonly number: Hex; readonly timestamp: Hex };

/** Where the heads of a chain come from and go to. */
export interface HeadTaker<Block extends PolledBlock = PolledBlock> {
  /** Asks a node for its newest block. */
  readonly poll: () => Promise<Block>;
  /** Takes a block that was looked up. */
  readonly onBlock: (block: Block) => unknown;
  /** Takes a header that a socket pushed. @throws when it lacks a field */
  readonly onHeader: (header: Readonly<Record<string, unknown>>) => unknown;
  /** Takes why a look failed, or why a header could not be used. */
  readonly onError: (error: unknown) => void;
}

export interface HeadPace {
  readonly blockTimeMs: number;
  /** Pause after a look that saw no new block, or a failed one. */
  readonly retryMs: number;
}

/** A look comes so much of a block time before the next block is due, so that looks draw near the time of new blocks. */
const EARLY_PART = 0.05;

/**
 * Passes the heads of a chain on: those that sockets push, and while none does, those that polls see. One poll a block as a
 * rule: the next one is taken when the next block is due.
 *
 * @returns ends it
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
    // A look comes first: by it a socket that lags is known.
    if (!hasPolled || !isUsable) return;
    try {
      taker.onHeader(header);
      lastHash = block.hash;
    } catch (error) {
      isUsable = false; // Its headers lack what Ponder needs: looks follow the chain instead.
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
