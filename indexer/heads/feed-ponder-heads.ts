import { openHeadFeeds } from '../../chain/head-feed/head-feed.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { followHeads, type HeadTaker } from './follow-heads.ts';
import { pollingIntervalMs } from './polling-interval.ts';

/** Where the patched Ponder looks for who follows heads: it loads its configuration as modules of its own. */
const FOLLOW_HEADS = Symbol.for('pool-trading-data-api.follow-heads');

/** Lets the Ponder of this process follow heads by the sockets of the chains, and look at the pace of their blocks. */
export function feedPonderHeads(chains: readonly ChainConfig[], logger: Logger): void {
  // Ponder's own metrics count what it asks; a socket is asked twice, when it opens.
  const feeds = openHeadFeeds(chains, () => undefined, logger);
  const follow = (chainId: number, taker: HeadTaker) => {
    const chain = chains.find((it) => it.chainId === chainId);
    if (chain === undefined) throw new RangeError(`chain ${chainId} is not indexed`);
    const { blockTimeMs } = chain;
    const feed = feeds.get(chainId);
    const stop = followHeads(taker, { blockTimeMs, retryMs: pollingIntervalMs(blockTimeMs) }, feed);
    return () => {
      stop();
      feed?.close();
    };
  };
  Object.assign(globalThis, { [FOLLOW_HEADS]: follow });
}
