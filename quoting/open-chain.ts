import { openChainRpc, type ReportedHead } from '../chain/chain-rpc.ts';
import { openHeadFeed } from '../chain/head-feed/head-feed.ts';
import type { ChainConfig } from '../config/chains-schema.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import { chainBounds, type QuoteOptions } from './chain-bounds.ts';
import { ChainDepthEstimates } from './depth-estimates.ts';
import { HeadTracker } from './heads/head-tracker.ts';
import type { PoolDirectory, ServedPool } from './pools/pool-directory.ts';
import { createPoolReader } from './reads/create-pool-reader.ts';
import { SnapshotCache } from './reads/snapshot-cache.ts';
import { BlockWarmer } from './requested/block-warmer.ts';
import { RequestedPools } from './requested/requested-pools.ts';
import { WarmSchedule } from './requested/warm-schedule.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';
import type { SnapshotObserver } from './snapshot-metrics.ts';
import type { ChainSnapshots } from './types.ts';

export interface ChainDeps {
  readonly quotes: QuoteOptions;
  readonly directory: PoolDirectory;
  /** Whether a pool is funded, and so read before remaining pools. Default: all are. */
  readonly isFunded?: (pool: ServedPool) => boolean;
  readonly countCall: CountChainCall;
  /** Gives the observer of what happens to a chain's snapshots. */
  readonly observe?: (chainId: number) => Partial<SnapshotObserver>;
  /** The processes that share what they read. Default: none. */
  readonly sharing?: ReadSharing | undefined;
  readonly logger: Logger;
}

/** A chain of the configuration with what serves its quotes. */
export interface Chain extends ChainConfig {
  /** Gives the block that quotes are read at. */
  readonly heads: HeadTracker<ReportedHead>;
  /** Prices and depth of pools at the head, each read once for all requests. */
  readonly snapshots: ChainSnapshots;
  /** Pools that clients request. The warmer reads them at each new block, as far as its schedule has calls. */
  readonly requested: RequestedPools;
  readonly warmer: BlockWarmer;
  readonly schedule: WarmSchedule;
  /** What routes know of pools before they are read. */
  readonly estimates: ChainDepthEstimates;
  /** Stops reading. Resolves when the run in progress is over. */
  stop(): Promise<void>;
}

/** Opens a chain: the sockets that push its heads, and the reader of pools, which starts once a client requests any. */
export function openChain(config: ChainConfig, deps: ChainDeps): Chain {
  const { chainId, blockTimeMs, multicall3, warmBudget } = config;
  const { quotes, directory, isFunded = () => true, observe, sharing, countCall } = deps;
  const logger = deps.logger.child({ chainId });
  const bounds = chainBounds(config, quotes);
  const rpc = openChainRpc(config, bounds.rpcTimeoutMs, countCall);
  const heads = new HeadTracker<ReportedHead>(rpc, { ...bounds, blockTimeMs });
  const feed = openHeadFeed(config, countCall, logger);
  feed?.onHead(({ block }) => heads.push({ block, endpoint: null }));
  const requested = new RequestedPools({ warmMs: quotes.warmSecs * 1_000 });
  const shared = sharing?.join(config, { requested, onHead: (block) => heads.pushHigher({ block, endpoint: null }) });
  const estimates = new ChainDepthEstimates();
  const observer = withCurves(observe?.(chainId), estimates);
  const target = { rpc, chainId, multicall3 };
  const reader = createPoolReader({ ...bounds, target, heads, shared, observer, logger });
  const snapshots = new SnapshotCache({ ...bounds, heads, reader, observer });
  const schedule = new WarmSchedule({ ...warmBudget, isFunded });
  const curveMethodOf = (pool: ServedPool) => estimates.curveMethod(pool);
  const reads = { heads, requested, schedule, snapshots, shared };
  const warmer = new BlockWarmer({ ...reads, chainId, directory, curveMethodOf, logger });
  const stop = async () => {
    feed?.close();
    await warmer.close();
  };
  return { ...config, heads, snapshots, requested, warmer, schedule, estimates, stop };
}

/** Makes an observer that also passes on to routes how curves became known. */
function withCurves(
  observer: Partial<SnapshotObserver> = {},
  estimates: ChainDepthEstimates,
): Partial<SnapshotObserver> {
  return {
    ...observer,
    curve: (report) => {
      observer.curve?.(report);
      estimates.report(report);
    },
  };
}
