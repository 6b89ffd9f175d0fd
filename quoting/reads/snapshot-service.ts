import type { Registry } from 'prom-client';
import { openChainRpc, type ReportedHead } from '../../chain/chain-rpc.ts';
import { closeHeadFeeds, type HeadFeeds, openHeadFeeds } from '../../chain/head-feed/head-feed.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { maxQuoteAgeMs, type QuotesConfig } from '../../config/quotes-schema.ts';
import { type CountChainCall, chainCallCounter } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import { HeadTracker } from '../heads/head-tracker.ts';
import { type CurveReport, type SnapshotObserver, snapshotMetrics } from '../snapshot-metrics.ts';
import type { SnapshotService } from '../types.ts';
import { createPoolReader } from './create-pool-reader.ts';
import { type SharedReads, sharedHeads, UNSHARED } from './shared-reads.ts';
import { SnapshotCache } from './snapshot-cache.ts';

/** Bounds of reads that no operator sets. */
const BOUNDS = {
  /** Longest read of one snapshot, over all nodes and calls. */
  readTimeoutMs: 8_000,
  /** The same on chains of kind `ethereum`, where a slower read is answered with 503. */
  ethereumReadTimeoutMs: 3_000,
  /** Longest wait of a request for a read that another request started. */
  waitTimeoutMs: 5_000,
  /** Shortest time between two heads that are taken. */
  minRefreshMs: 500,
  /** Pools whose every level is simulated that one block has room for, by chain; the others get 503. */
  simulatedPoolsPerRead: 10,
  /** Size of the snapshot cache of each chain, in bins of about 1 KB. */
  cacheBins: 100_000,
};

/** Settings, and bounds where others than the usual ones hold, as in tests. */
export type SnapshotOptions = QuotesConfig & Partial<typeof BOUNDS>;

export interface SnapshotServiceDeps {
  readonly chains: readonly ChainConfig[];
  readonly quotes: SnapshotOptions;
  /** Sockets that push heads. */
  readonly feeds?: HeadFeeds;
  readonly countCall: CountChainCall;
  readonly observe?: (chainId: number) => Partial<SnapshotObserver>;
  /** What is read with other processes. Default: nothing. */
  readonly shared?: (chainId: number) => SharedReads;
  readonly logger: Logger;
}

export interface SnapshotsOptions extends Pick<SnapshotServiceDeps, 'chains' | 'quotes' | 'shared' | 'logger'> {
  readonly metrics: Registry;
  /** Takes how the curve of a pool became known. */
  readonly onCurve: (chainId: number, report: CurveReport) => void;
}

/** Opens the sockets that push heads, and counts what is read of the chains. */
export function startSnapshots({ metrics, onCurve, ...deps }: SnapshotsOptions): SnapshotService & { stop(): void } {
  const countCall = chainCallCounter(metrics);
  const observerOf = snapshotMetrics(metrics);
  const feeds = openHeadFeeds(deps.chains, countCall, deps.logger);
  const observe = (chainId: number): SnapshotObserver => {
    const counted = observerOf(chainId);
    const curve = (report: CurveReport) => {
      counted.curve(report);
      onCurve(chainId, report);
    };
    return { ...counted, curve };
  };
  const service = createSnapshotService({ ...deps, feeds, countCall, observe });
  return { ...service, stop: () => closeHeadFeeds(feeds) };
}

/** Snapshots of all chains of the configuration. */
export function createSnapshotService(deps: SnapshotServiceDeps): SnapshotService {
  const byChain = new Map(deps.chains.map((chain) => [chain.chainId, createSnapshotCache(chain, deps)]));
  return {
    of: (chainId) => {
      const found = byChain.get(chainId);
      if (!found) throw new RangeError(`chain ${chainId} is not configured`);
      return found;
    },
  };
}

function createSnapshotCache(
  chain: ChainConfig,
  { quotes, feeds, countCall, observe, shared: sharedOf, logger: processLogger }: SnapshotServiceDeps,
): SnapshotCache {
  const { chainId, blockTimeMs, multicall3, rpcUrls } = chain;
  const { rpcTimeoutMs, ethereumReadTimeoutMs, simulatedPoolsPerRead, minRefreshMs, ...bounds } = {
    ...BOUNDS,
    ...quotes,
  };
  const slowIsUnavailable = chainId === 1 || chain.pamm?.kind === 'ethereum';
  const readTimeoutMs = slowIsUnavailable ? ethereumReadTimeoutMs : bounds.readTimeoutMs;
  // A node that is slow must leave time to ask the next one.
  const timeoutMs = Math.min(rpcTimeoutMs, Math.ceil(readTimeoutMs / Math.min(2, rpcUrls.length)));
  const target = { rpc: openChainRpc(chain, timeoutMs, countCall), chainId, multicall3 };
  const shared = sharedOf?.(chainId) ?? UNSHARED;
  const heads = sharedHeads(target.rpc, shared, () => clock.current);
  const clock: HeadTracker<ReportedHead> = new HeadTracker(heads, {
    blockTimeMs,
    minRefreshMs,
    maxAgeMs: maxQuoteAgeMs(quotes, blockTimeMs),
  });
  shared.drive(clock);
  feeds?.get(chainId)?.onHead(({ block }) => {
    // A block that the leading process has not read yet would be read again here.
    if (!shared.isFollowing) clock.push({ block, endpoint: null });
  });
  const logger = processLogger.child({ chainId });
  const observer = observe?.(chainId) ?? {};
  const reader = createPoolReader({ target, logger, observer, clock, shared, simulatedPoolsPerRead, readTimeoutMs });
  return new SnapshotCache({ ...bounds, clock, reader, readTimeoutMs, slowIsUnavailable, observer });
}
