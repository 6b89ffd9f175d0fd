import type { BlockHeader, ChainRpc } from '../chain/chain-rpc.ts';
import type { ChainConfig } from '../config/chains-schema.ts';
import type { Logger } from '../runtime/logger.ts';
import type { chainBounds } from './chain-bounds.ts';
import type { Heads } from './heads/heads.ts';
import type { LiveHeads } from './live/live-heads.ts';
import type { PoolDirectory, ServedPool } from './pools/pool-directory.ts';
import { createPoolReader } from './reads/create-pool-reader.ts';
import { LiveReader } from './reads/live-reader.ts';
import { SnapshotCache } from './reads/snapshot-cache.ts';
import { BlockWarmer, type BlockWarmerDeps } from './requested/block-warmer.ts';
import { RequestedPools } from './requested/requested-pools.ts';
import { WarmSchedule } from './requested/warm-schedule.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';
import type { SnapshotObserver } from './snapshot-metrics.ts';

/** What quotes of both bases have in common on a chain. */
export interface QuotesDeps {
  readonly config: ChainConfig;
  readonly bounds: ReturnType<typeof chainBounds>;
  readonly rpc: ChainRpc;
  readonly directory: PoolDirectory;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly curveMethodOf: BlockWarmerDeps['curveMethodOf'];
  readonly observer: Partial<SnapshotObserver>;
  readonly sharing: ReadSharing | undefined;
  readonly logger: Logger;
}

/** What serves quotes of one basis: at the committed head, or in the block that is being built. */
export interface ChainQuotes {
  /** Gives the block that quotes are read at. */
  readonly heads: Heads;
  /** Prices and depth of pools at the head, each read once for all requests. */
  readonly snapshots: SnapshotCache;
  /** Pools that clients request. The warmer reads them at each new head, as far as its schedule has calls. */
  readonly requested: RequestedPools;
  readonly warmer: BlockWarmer;
  readonly schedule: WarmSchedule;
}

/** @param onHead takes a head at which another process has read pools */
export function openCommittedQuotes(deps: QuotesDeps, heads: Heads, onHead: (block: BlockHeader) => void): ChainQuotes {
  const { config, sharing } = deps;
  const requested = new RequestedPools({ warmMs: deps.bounds.warmSecs * 1_000 });
  const shared = sharing?.join(config, 'committed', { requested, onHead });
  const reader = createPoolReader({ ...readerOptions(deps), heads, shared });
  const snapshots = new SnapshotCache({ ...deps.bounds, heads, reader, observer: deps.observer });
  return withWarmer(deps, { heads, snapshots, requested, shared });
}

/** @param committed what gives the quotes of pools without a live price */
export function openLiveQuotes(deps: QuotesDeps, heads: LiveHeads, committed: ChainQuotes): ChainQuotes {
  const { config, sharing } = deps;
  const requested = new RequestedPools({ warmMs: deps.bounds.warmSecs * 1_000, under: committed.requested });
  const shared = sharing?.join(config, 'live', { requested, onHead: () => undefined });
  const pools = createPoolReader({ ...readerOptions(deps), heads, shared });
  const reader = new LiveReader({ reader: pools, committed: committed.snapshots, heads });
  const options = { heads, reader, committed: committed.snapshots, observer: deps.observer };
  const snapshots = new SnapshotCache({ ...deps.bounds, ...options });
  return withWarmer(deps, { heads, snapshots, requested, shared });
}

const readerOptions = ({ config: { chainId, multicall3, live }, rpc, bounds, observer, logger }: QuotesDeps) => ({
  ...bounds,
  target: { rpc, chainId, multicall3 },
  hasSource: live !== undefined,
  observer,
  logger,
});

function withWarmer(
  { config: { chainId, warmBudget }, directory, isFunded, curveMethodOf, logger }: QuotesDeps,
  { shared, ...parts }: Pick<BlockWarmerDeps, 'shared'> & Omit<ChainQuotes, 'warmer' | 'schedule'>,
): ChainQuotes {
  const schedule = new WarmSchedule({ ...warmBudget, isFunded });
  const warmer = new BlockWarmer({ ...parts, chainId, directory, schedule, shared, curveMethodOf, logger });
  return { ...parts, schedule, warmer };
}
