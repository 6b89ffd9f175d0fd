import type { Address } from 'viem';
import type { ChainRpc, ReportedHead } from '../../chain/chain-rpc.ts';
import type { PendingState } from '../../chain/pending-state.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { QuotesConfig } from '../../config/quotes-schema.ts';
import type { Environment } from '../../config/read-secret.ts';
import { chainBounds } from '../../quoting/chain-bounds.ts';
import type { LiveFeed } from '../../quoting/live/live-feed.ts';
import type { LiveHeads } from '../../quoting/live/live-heads.ts';
import type { LiveObserver } from '../../quoting/live/live-metrics.ts';
import { openHeads } from '../../quoting/open-heads.ts';
import type { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import { pause } from '../../runtime/pause.ts';

/** A committed head, and the block that is being built on it. */
export type LiveBlock = ReportedHead & { readonly block: BlockHeader & { readonly pending: PendingState } };

export interface LiveBlocksDeps {
  readonly chain: ChainConfig;
  readonly quotes: QuotesConfig;
  /** Its requests wait for the read budget. */
  readonly rpc: ChainRpc;
  /** Gives the accounts whose overrides no source may replace. */
  readonly protectedAccounts: () => Promise<ReadonlySet<Address>>;
  /** Holds the keys of sources. */
  readonly env: Environment;
  readonly observer?: LiveObserver | undefined;
  readonly countCall: CountChainCall;
  /** The processes that share sources: these are read here while none of them does. Default: none. */
  readonly sharing?: Pick<ReadSharing, 'followFeed'> | undefined;
  readonly logger: Logger;
}

/** The blocks being built of a chain, for scheduled reads. */
export interface LiveBlocks extends Pick<LiveHeads, 'reject' | 'suspend'> {
  /** Gives the block that is being built now, as quotes see it; null without one. Never rejects. */
  now(): Promise<LiveBlock | null>;
  /** Closes sources and sockets. */
  close(): void;
}

/** A source sends a frame every 100 to 400 ms: the first one after a new head may be on its way, to a busy machine. */
const FRAME_WAIT_MS = 1_000;
/** A source is silent that sent no frame for this long, even one without overrides. */
const SILENT_AFTER_MS = 5_000;

/**
 * Opens the sources of a chain's pending state, and the sockets that push its heads. Without these, the head is polled
 * when a block is requested.
 *
 * @returns undefined for a chain without a source, or where this process could read none and no others share theirs
 * @throws ConfigError when the file of a key cannot be read
 */
export function openLiveBlocks(deps: LiveBlocksDeps): LiveBlocks | undefined {
  const { chain: config, quotes, rpc, protectedAccounts, env, observer, countCall, sharing, logger } = deps;
  if (!config.live) return undefined;
  let accounts: ReadonlySet<Address> | undefined;
  const chain = { config, bounds: chainBounds(config, quotes), rpc, countCall, logger };
  const opened = openHeads(chain, { protectedAccounts: () => accounts, observer, env });
  if (!opened.live || (opened.live.feed.isOff && !sharing)) {
    opened.close();
    return undefined;
  }
  const { heads, feed } = opened.live;
  let frameAt: number | null = null;
  feed.onFrame(() => {
    frameAt = performance.now();
  });
  if (sharing) sharing.followFeed(config, feed);
  else feed.read();
  const now = async (): Promise<LiveBlock | null> => {
    accounts = await protectedAccounts();
    const head = await heads.head();
    if (isLive(head)) return head;
    const waitMs = frameWaitMs(frameAt, performance.now());
    if (waitMs === 0) return null;
    await nextFrame(feed, waitMs);
    const later = await heads.head();
    return isLive(later) ? later : null;
  };
  return {
    // Reads at the committed head report what is wrong with the nodes or the database.
    now: () => now().catch(() => null),
    reject: (head) => heads.reject(head),
    suspend: (head, failure) => heads.suspend(head, failure),
    close: () => opened.close(),
  };
}

const isLive = (head: ReportedHead): head is LiveBlock => head.block.pending !== undefined;

/**
 * How long to wait for a frame while no block is being built, milliseconds: reads do not wait for sources that are silent.
 *
 * @param frameAt when the last frame was used, on the same clock as `now`; null before the first
 */
export const frameWaitMs = (frameAt: number | null, now: number): number =>
  frameAt === null || now - frameAt > SILENT_AFTER_MS ? 0 : FRAME_WAIT_MS;

/** Resolves when a frame is used, or after the wait. */
async function nextFrame(feed: LiveFeed, waitMs: number): Promise<void> {
  const used = new AbortController();
  const stop = feed.onFrame(() => used.abort());
  await pause(waitMs, used.signal);
  stop();
}
