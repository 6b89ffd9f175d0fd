import { hasOwnSource } from '../../config/live-schema.ts';
import type { Environment } from '../../config/read-secret.ts';
import type { ChainContext } from '../chain-bounds.ts';
import type { Heads } from '../heads/heads.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { LiveHeads, type LiveHeadsDeps } from './live-heads.ts';
import { type OwnSourceDeps, tracesBy } from './own-source.ts';
import { watchTraces } from './trace-watch.ts';

export interface LiveHeadsOptions
  extends Pick<LiveHeadsDeps, 'protectedAccounts' | 'observer'>,
    Pick<LiveFeedDeps, 'openSource'> {
  /** Holds the keys of sources. Default: there are none. */
  readonly env?: Environment | undefined;
  /** Passes on the quote updates of the chain that makers publish. Default: they are no source. */
  readonly listen?: OwnSourceDeps['listen'] | undefined;
}

export interface OpenLiveHeads {
  readonly heads: LiveHeads;
  /** What the heads have their overrides from. No source is read yet. */
  readonly feed: LiveFeed;
  /** What the operator should know; undefined when there is nothing. */
  warning(): string | undefined;
  close(): void;
}

/**
 * Makes the heads that show a chain's pending state; undefined for a chain without sources.
 *
 * @throws ConfigError when the file of a key cannot be read
 */
export function openLiveHeads(
  { config, rpc, logger, now, wallClock }: ChainContext,
  committed: Heads,
  { protectedAccounts, observer, env = {}, listen, openSource }: LiveHeadsOptions,
): OpenLiveHeads | undefined {
  const { live } = config;
  if (!live) return undefined;
  protectedAccounts(); // Begins to look for them: no overrides are used until they are known.
  const chain = { ...config, live };
  const watch = hasOwnSource(config) && listen ? watchTraces(rpc, logger) : undefined;
  const find = tracesBy(rpc, config.chainId);
  const own = watch && listen && { find, heads: committed, listen, canTrace: watch.isAvailable };
  // A head that was not reported for a while says nothing of frames: no request needed the chain's head since.
  const top = () => committed.announced && committed.top;
  const feed = new LiveFeed(chain, { top, observer, env, own, openSource, logger, now, wallClock });
  return {
    heads: new LiveHeads(chain, { committed, feed, protectedAccounts, observer, logger, now }),
    feed,
    warning: () => watch?.warning(),
    close() {
      watch?.stop();
      feed.close();
    },
  };
}
