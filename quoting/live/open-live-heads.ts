import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { hasOwnSource } from '../../config/live-schema.ts';
import type { Environment } from '../../config/read-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import type { Heads } from '../heads/heads.ts';
import type { PoolDirectory, PoolTable } from '../pools/pool-directory.ts';
import { protectedAccounts } from '../pools/protected-accounts.ts';
import { createLiveHeads } from './create-live-heads.ts';
import { type FeedOfWords, openLiveFeed } from './live-feed.ts';
import type { LiveHeads } from './live-heads.ts';
import type { LiveObserver } from './live-metrics.ts';
import type { OwnSourceDeps } from './own-source.ts';
import { TraceWatch } from './trace-watch.ts';

export interface LiveHeadsOptions {
  readonly directory: PoolDirectory;
  /** Holds the keys of sources. Default: there are none. */
  readonly env?: Environment | undefined;
  /** Gives the observer of a chain's pending state. */
  readonly observeLive?: ((chainId: number) => LiveObserver) | undefined;
  /** Makes a feed that processes share. Default: this process reads the sources by itself. */
  readonly shareFeed?: ((open: () => FeedOfWords) => FeedOfWords) | undefined;
  /** Passes on the quote updates of the chain that makers publish. Default: they are no source. */
  readonly listen?: OwnSourceDeps['listen'] | undefined;
  readonly rpc: ChainRpc;
  readonly logger: Logger;
}

export interface OpenLiveHeads {
  readonly heads: LiveHeads;
  /** What the operator should know; undefined when there is nothing. */
  warning(): string | undefined;
  close(): void;
}

/** Of a chain whose sources are all off, as without their keys. */
const NO_WORDS: FeedOfWords = { state: () => undefined, onFrame: () => () => undefined, close: () => undefined };

/** Opens the sources of a chain's pending state; undefined for a chain without any. */
export function openLiveHeads(
  config: ChainConfig,
  committed: Heads,
  { directory, env = {}, observeLive, shareFeed = (open) => open(), listen, rpc, logger }: LiveHeadsOptions,
): OpenLiveHeads | undefined {
  const { live, chainId } = config;
  if (!live) return undefined;
  let table: PoolTable | undefined;
  // Before the first index there are no pools. A request that needs the table reports why there is none.
  const askForTable = cacheResult(async () => {
    table = await directory.table().catch(() => undefined);
  }, 0);
  const knownTable = (): PoolTable | undefined => {
    if (!table) void askForTable();
    return table;
  };
  knownTable();
  const observer = observeLive?.(chainId);
  // A head that was not reported for a while says nothing of frames: no request needed the chain's head since.
  const headNumber = () => committed.told?.block.number;
  const count = observer?.count ?? (() => undefined);
  const watch = hasOwnSource(config) && listen ? new TraceWatch(rpc, logger.child({ chainId })) : undefined;
  const own = watch && listen && { rpc, heads: committed, listen, canTrace: () => watch.isAvailable };
  const feed = shareFeed(() => openLiveFeed(config, { headNumber, count, env, own, logger }) ?? NO_WORDS);
  const parts = { committed, feed, protectedAccounts: protectedAccounts(config, knownTable), observer, logger };
  const heads = createLiveHeads({ ...config, live }, parts);
  return {
    heads,
    warning: () => watch?.warning,
    close() {
      watch?.stop();
      feed.close();
    },
  };
}
