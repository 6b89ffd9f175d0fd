import type { Address } from 'viem';
import { partSource } from '../config/live-schema.ts';
import type { ChainContext } from './chain-bounds.ts';
import { LiveBlocks } from './live/live-blocks.ts';
import type { LiveHeadsOptions } from './live/open-live-heads.ts';
import { openHeads } from './open-heads.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';

export interface LiveBlocksOptions extends Pick<LiveHeadsOptions, 'observer' | 'env'> {
  /** Gives the accounts whose overrides no source may replace. */
  readonly protectedAccounts: () => Promise<ReadonlySet<Address>>;
  /** The processes that share sources: these are read here while none of them does. Default: none. */
  readonly sharing?: Pick<ReadSharing, 'followFeed'> | undefined;
}

export interface OpenLiveBlocks {
  readonly blocks: LiveBlocks;
  /** Closes sources and sockets. */
  close(): void;
}

/**
 * Opens the sources of a chain's pending state, and the sockets that push its heads. Without these, the head is polled
 * when a block is requested.
 *
 * @returns undefined for a chain without a source, or where this process could read none and no others share theirs
 * @throws ConfigError when the file of a key cannot be read
 */
export function openLiveBlocks(
  chain: ChainContext,
  { protectedAccounts, sharing, ...options }: LiveBlocksOptions,
): OpenLiveBlocks | undefined {
  const { config } = chain;
  // Capture reads a part when it needs one.
  if (!config.live || partSource(config.live)) return undefined;
  let accounts: ReadonlySet<Address> | undefined;
  const opened = openHeads(chain, { ...options, protectedAccounts: () => accounts });
  if (!opened.live || (opened.live.feed.isOff && !sharing)) {
    opened.close();
    return undefined;
  }
  const { heads, feed } = opened.live;
  const renewAccounts = async () => {
    accounts = await protectedAccounts();
  };
  const blocks = new LiveBlocks({ heads, feed, renewAccounts, now: chain.now });
  if (sharing) sharing.followFeed(config, feed);
  else feed.read();
  return { blocks, close: () => opened.close() };
}
