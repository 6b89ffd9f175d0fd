import type { Hex } from 'viem';
import type { HeadFeed } from '../../chain/head-feed/head-feed.ts';
import { type FollowerEvent, type HeadPace, newFollower, nextFollower, takesHeaders } from './next-follower.ts';

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
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let state = newFollower(feed !== undefined);
  const take = (event: FollowerEvent): number => {
    const [next, pauseMs] = nextFollower(state, event, performance.now(), pace);
    state = next;
    return pauseMs;
  };

  const poll = async (): Promise<number> => {
    const startedAt = performance.now();
    let pauseMs = pace.retryMs;
    try {
      const block = await taker.poll();
      if (isStopped) return pauseMs;
      const { hash } = block;
      const dueMs = take({ kind: 'polled', hash, startedAt });
      feed?.note({ number: BigInt(block.number), hash, timestamp: BigInt(block.timestamp) });
      taker.onBlock(block);
      pauseMs = dueMs;
    } catch (error) {
      if (!isStopped) taker.onError(error);
    }
    return pauseMs;
  };
  const wake = async () => {
    const pauseMs = takesHeaders(state) && feed?.isLive ? pace.retryMs : await poll();
    if (!isStopped) timer = setTimeout(wake, pauseMs);
  };

  const stopListening = feed?.onHead(({ header, block }) => {
    if (!takesHeaders(state)) return;
    try {
      taker.onHeader(header);
      take({ kind: 'pushed', hash: block.hash });
    } catch (error) {
      take({ kind: 'unusable' });
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
