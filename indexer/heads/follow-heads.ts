import type { HeadFeed } from '../../chain/head-feed/head-feed.ts';

/** What Ponder offers to who follows the heads of a chain for it. */
export interface HeadTaker {
  /** Asks a node for its newest block. */
  readonly look: () => Promise<{ readonly hash: string }>;
  /** Takes a block that was looked up. */
  readonly onBlock: (block: { readonly hash: string }) => unknown;
  /** Takes a header that a socket told. @throws when it lacks a field */
  readonly onHeader: (header: Readonly<Record<string, unknown>>) => unknown;
  /** Counts a failure. @throws when there were too many */
  readonly onError: (error: unknown) => void;
}

export interface HeadPace {
  readonly blockTimeMs: number;
  /** Pause after a look that saw no new block, or a failed one. */
  readonly retryMs: number;
  /** Pause after a look, whatever it saw. */
  readonly pollMs?: number | undefined;
}

/** A look comes so much of a block time before the next block is due, so that looks draw near the time of new blocks. */
const EARLY_PART = 0.05;

/**
 * Passes the heads of a chain on: those that sockets tell, and while none does, those that looks see. One look a block as a
 * rule: the next one is taken when the next block is due.
 *
 * @returns ends it
 */
export function followHeads(taker: HeadTaker, pace: HeadPace, feed: HeadFeed | undefined): () => void {
  const { blockTimeMs, retryMs, pollMs } = pace;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let lastHash = '';

  const look = async (): Promise<number> => {
    const startedAt = performance.now();
    try {
      const block = await taker.look();
      if (isStopped) return retryMs;
      const isNew = block.hash !== lastHash;
      lastHash = block.hash;
      taker.onBlock(block);
      if (pollMs !== undefined) return pollMs;
      if (!isNew) return retryMs;
    } catch (error) {
      if (!isStopped) taker.onError(error);
      return retryMs;
    }
    return Math.max(retryMs, blockTimeMs * (1 - EARLY_PART) - (performance.now() - startedAt));
  };
  const wake = async () => {
    const pauseMs = feed?.isLive ? retryMs : await look();
    if (!isStopped) timer = setTimeout(wake, pauseMs);
  };

  const stopListening = feed?.onHead(({ header, block }) => {
    lastHash = block.hash;
    try {
      taker.onHeader(header);
    } catch (error) {
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
