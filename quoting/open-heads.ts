import type { ReportedHead } from '../chain/chain-rpc.ts';
import { type HeadFeedDeps, openHeadFeed } from '../chain/head-feed/head-feed.ts';
import { partSource } from '../config/live-schema.ts';
import type { ChainContext } from './chain-bounds.ts';
import { HeadTracker } from './heads/head-tracker.ts';
import { type LiveHeadsOptions, type OpenLiveHeads, openLiveHeads } from './live/open-live-heads.ts';
import { type OpenPartHeads, openPartHeads, type PartHeadsOptions } from './parts/open-part-heads.ts';

/** The heads of a chain: what quotes and scheduled reads are read at. */
export interface OpenHeads {
  /** Polled, and pushed by the sockets of nodes. */
  readonly committed: HeadTracker<ReportedHead>;
  /** With the blocks being built; undefined for a chain without a source of live prices. No source is read yet. */
  readonly live: OpenLiveHeads | undefined;
  /** With the parts of blocks being built; undefined for a chain whose nodes do not follow them. */
  readonly parts: OpenPartHeads | undefined;
  /** Closes the sockets that push heads, and sources. */
  close(): void;
}

export type HeadsOptions = LiveHeadsOptions & PartHeadsOptions & Pick<HeadFeedDeps, 'openSocket'>;

/**
 * Opens the heads of a chain. Without sockets, the head is polled when it is requested.
 *
 * @throws ConfigError when the file of a key of a source cannot be read
 */
export function openHeads(chain: ChainContext, options: HeadsOptions): OpenHeads {
  const { config, bounds, rpc, now, wallClock } = chain;
  const committed = new HeadTracker<ReportedHead>(rpc, { ...bounds, blockTimeMs: config.blockTimeMs, now, wallClock });
  const source = partSource(config.live);
  const parts = source && openPartHeads(chain, source, committed, options);
  const live = parts ? undefined : openLiveHeads(chain, committed, options);
  const pushed = openHeadFeed(config, { ...chain, openSocket: options.openSocket });
  pushed?.onHead(({ block }) => committed.push({ block, endpoint: null }));
  return {
    committed,
    live,
    parts,
    close() {
      pushed?.close();
      parts?.close();
      live?.close();
    },
  };
}
