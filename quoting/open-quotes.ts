import type { BlockHeader } from '../chain/read-context.ts';
import { liveMaxAgeMs } from '../config/live-schema.ts';
import type { ChainContext } from './chain-bounds.ts';
import type { ChainDepthEstimates } from './depth-estimates.ts';
import type { Heads } from './heads/heads.ts';
import { AccessLists } from './live/access-lists.ts';
import type { LiveHeads } from './live/live-heads.ts';
import { LiveReader } from './live/live-reader.ts';
import type { PoolDirectory, ServedPool } from './pools/pool-directory.ts';
import { createPoolReader, type PoolReaderOptions } from './reads/create-pool-reader.ts';
import type { PoolReader } from './reads/pool-reader.ts';
import { SnapshotCache } from './reads/snapshot-cache.ts';
import { BlockWarmer } from './requested/block-warmer.ts';
import { RequestedPools } from './requested/requested-pools.ts';
import { WarmSchedule } from './requested/warm-schedule.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';
import type { SnapshotObserver } from './snapshot-metrics.ts';

/** What quotes of both bases have in common on a chain. */
export interface QuotesDeps extends ChainContext {
  readonly directory: PoolDirectory;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly estimates: Pick<ChainDepthEstimates, 'isReadForKeys'>;
  readonly observer: Partial<SnapshotObserver>;
  readonly sharing: ReadSharing | undefined;
  /** Makes what reads pools of the nodes. Default: by the calls of the contracts. */
  readonly createReader?: ((options: PoolReaderOptions) => PoolReader) | undefined;
}

/** What serves quotes of one basis: at the committed head, or in the block that is being built. */
export interface BasisQuotes {
  /** Gives the block that quotes are read at. */
  readonly heads: Heads;
  /** Prices and depth of pools at the head, each read once for all requests. */
  readonly snapshots: SnapshotCache;
  /** Pools that clients request. The warmer reads them at each new head, as far as its schedule has calls. */
  readonly requested: RequestedPools;
  readonly warmer: BlockWarmer;
  readonly schedule: WarmSchedule;
}

/**
 * Opens the quotes at some heads.
 *
 * @param onHead takes a head at which another process has read pools
 * @param live where the heads may be blocks that are being built: those heads,
 * and what quotes pools without a live price
 */
export function openQuotes(
  deps: QuotesDeps,
  heads: Heads,
  onHead: (block: BlockHeader) => void,
  live?: { readonly heads: LiveHeads; readonly committed: BasisQuotes },
): BasisQuotes {
  const { config, bounds, rpc, directory, isFunded, estimates, observer, sharing, logger, now, wallClock } = deps;
  const { createReader = createPoolReader } = deps;
  const { chainId, multicall3, warmBudget } = config;
  const committed = live?.committed.snapshots;
  const requested = new RequestedPools({ warmMs: bounds.warmSecs * 1_000, under: live?.committed.requested, now });
  const shared = sharing?.join(config, live ? 'live' : 'committed', { requested, onHead });
  const target = { rpc, chainId, multicall3 };
  const hasSource = config.live !== undefined;
  const pools = createReader({ ...bounds, target, hasSource, observer, logger, heads, shared, wallClock });
  const schedule = new WarmSchedule({ ...warmBudget, isFunded, now });
  const reserve = () => schedule.budget.reserve('remaining');
  const { readTimeoutMs } = bounds;
  const keepMs = config.live && live ? liveMaxAgeMs(config.live, config.blockTimeMs) : 0;
  const reader = live
    ? new LiveReader({
        reader: pools,
        committed: live.committed.snapshots,
        heads: live.heads,
        accessLists: new AccessLists({ rpc, reserve, readTimeoutMs, logger, now }),
        reuseMs: keepMs / 2,
        now,
      })
    : pools;
  const snapshots = new SnapshotCache({ ...bounds, heads, reader, committed, observer });
  const parts = { heads, snapshots, requested, schedule };
  const { isReadForKeys } = estimates;
  const warmer = new BlockWarmer({ ...parts, chainId, directory, shared, isReadForKeys, keepMs, logger, now });
  return { ...parts, warmer };
}
