import type { ChainConfig } from '../../config/chains-schema.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import { HeadFeed } from './head-feed.ts';

type ChainOfFeed = Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'wsUrls'>;

/** By chain id: a chain without sockets has no feed. */
export type HeadFeeds = ReadonlyMap<number, HeadFeed>;

/** Opens the sockets of all chains. */
export function openHeadFeeds(chains: readonly ChainOfFeed[], countCall: CountChainCall, logger: Logger): HeadFeeds {
  return new Map(
    chains.flatMap(({ chainId, blockTimeMs, wsUrls = [] }) => {
      if (wsUrls.length === 0) return [];
      const count = (method: string, outcome: string) => countCall(chainId, method, outcome);
      return [[chainId, new HeadFeed({ chainId, blockTimeMs, wsUrls, count, logger })] as const];
    }),
  );
}

export function closeHeadFeeds(feeds: HeadFeeds): void {
  for (const feed of feeds.values()) feed.close();
}
