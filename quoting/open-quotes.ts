import type { BlockHeader, BlockRef } from '../chain/read-context.ts';
import { liveMaxAgeMs } from '../config/live-schema.ts';
import type { ChainContext } from './chain-bounds.ts';
import type { ChainDepthEstimates } from './depth-estimates.ts';
import type { Heads } from './heads/heads.ts';
import { AccessLists } from './live/access-lists.ts';
import type { LiveFeed } from './live/live-feed.ts';
import type { LiveHeads } from './live/live-heads.ts';
import { LiveReader, type LiveReaderDeps } from './live/live-reader.ts';
import type { OpenPartHeads } from './parts/open-part-heads.ts';
import { PartReader } from './parts/part-reader.ts';
import type { SealedChecks } from './parts/sealed-checks.ts';
import type { PoolDirectory, ServedPool } from './pools/pool-directory.ts';
import { createPoolReader, type PoolReaderOptions } from './reads/create-pool-reader.ts';
import type { PoolReader } from './reads/pool-reader.ts';
import { SnapshotCache } from './reads/snapshot-cache.ts';
import { BlockWarmer } from './requested/block-warmer.ts';
import { RequestedPools } from './requested/requested-pools.ts';
import { WarmSchedule } from './requested/warm-schedule.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';
import type { SnapshotObserver } from './snapshot-metrics.ts';
import type { PriceSnapshot } from './types.ts';

/** What quotes of both bases have in common on a chain. */
export interface QuotesDeps extends ChainContext {
  readonly directory: PoolDirectory;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly estimates: Pick<ChainDepthEstimates, 'isReadForKeys'>;
  readonly observer: Partial<SnapshotObserver>;
  readonly sharing: ReadSharing | undefined;
  /** Where nodes follow parts of blocks: compares these with sealed blocks. */
  readonly sealed: SealedChecks | undefined;
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

/** Where heads may be blocks that are being built: those heads, and what quotes pools that are not read there. */
interface LiveQuotesDeps {
  readonly heads: LiveHeads;
  readonly committed: BasisQuotes;
  /** Where sources send state overrides: what they say. */
  readonly feed?: Pick<LiveFeed, 'holders'> | undefined;
  /** Where nodes follow parts of these blocks: what calls these nodes. */
  readonly parts?: Pick<OpenPartHeads, 'rpc' | 'feed' | 'sealed' | 'passed' | 'shownAnswers'> | undefined;
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
  live?: LiveQuotesDeps,
): BasisQuotes {
  const { config, bounds, directory, isFunded, estimates, observer, sharing, sealed, logger, now, wallClock } = deps;
  const { createReader = createPoolReader } = deps;
  const { chainId, multicall3, warmBudget } = config;
  const committed = live?.committed.snapshots;
  const { rpc } = live?.parts ?? deps;
  const requested = new RequestedPools({ warmMs: bounds.warmSecs * 1_000, under: live?.committed.requested, now });
  const shownAnswers = live?.parts?.shownAnswers;
  const comesFirst = shownAnswers && ((block: BlockRef) => shownAnswers.isShown(block));
  const shared = sharing?.join(config, live ? 'live' : 'committed', { requested, onHead, comesFirst });
  const target = { rpc, chainId, multicall3 };
  const hasSource = config.live !== undefined;
  const onRead = sealed && ((snapshot: PriceSnapshot) => sealed.note(snapshot));
  const onFees: PoolReaderOptions['onFees'] = sealed && ((block, feesWei) => sealed.noteFees(block, feesWei));
  const reads = { ...bounds, target, hasSource, observer, logger, heads, shared, wallClock };
  const pools = createReader({ ...reads, shownAnswers, onRead, onFees });
  const schedule = new WarmSchedule({ ...warmBudget, isFunded, now });
  const reserve = () => schedule.budget.reserve('remaining');
  const { readTimeoutMs } = bounds;
  const keepMs = config.live && live ? liveMaxAgeMs(config.live, config.blockTimeMs) : 0;
  const accessLists = () => new AccessLists({ rpc, reserve, readTimeoutMs, logger, now });
  const reader = live ? openLiveReader({ ...live, reader: pools, accessLists, reuseMs: keepMs / 2, now }) : pools;
  const snapshots = new SnapshotCache({ ...bounds, heads, reader, committed, observer });
  const parts = { heads, snapshots, requested, schedule };
  const { isReadForKeys } = estimates;
  const warmer = new BlockWarmer({ ...parts, chainId, directory, shared, isReadForKeys, keepMs, logger, now });
  return { ...parts, warmer };
}

const NO_SOURCES: Pick<LiveFeed, 'holders'> = { holders: () => null };

/** Makes what reads pools in blocks that are being built. */
function openLiveReader({
  parts,
  feed = NO_SOURCES,
  accessLists,
  committed: { snapshots },
  ...deps
}: LiveQuotesDeps & Pick<LiveReaderDeps, 'reader' | 'reuseMs' | 'now'> & { readonly accessLists: () => AccessLists }) {
  if (!parts) return new LiveReader({ ...deps, feed, committed: snapshots, accessLists: accessLists() });
  const { feed: shown, sealed, passed, shownAnswers } = parts;
  const { gas } = shownAnswers;
  return new PartReader({ ...deps, committed: snapshots, sealed, passed, gas, note: (view) => shown.note(view) });
}
