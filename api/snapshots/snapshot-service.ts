import { openChainRpc, type ReportedHead } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { QuotesConfig } from '../../config/quotes-schema.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CountGuardDisagreement, CountLookup, SnapshotLookup } from '../observability/snapshot-metrics.ts';
import { BlockClock } from './block-clock.ts';
import { ChainReads } from './chain-reads.ts';
import { ChainSnapshots } from './chain-snapshots.ts';
import { GuardProber } from './guards/guard-prober.ts';
import type { ServedPool } from './pool-directory.ts';
import { PoolReader } from './pool-reader.ts';
import type { ReadOptions, SnapshotService } from './types.ts';

export interface SnapshotServiceDeps {
  readonly chains: readonly ChainConfig[];
  readonly quotes: QuotesConfig;
  readonly countCall: CountChainCall;
  readonly countLookup?: CountLookup;
  readonly countDisagreement?: CountGuardDisagreement;
  readonly logger: Logger;
}

/** Snapshots of all chains of the configuration. Asking for another chain is a defect and throws a RangeError. */
export function createSnapshotService(deps: SnapshotServiceDeps): SnapshotService {
  const byChain = new Map(deps.chains.map((chain) => [chain.chainId, createChainSnapshots(chain, deps)] as const));
  const of = (chainId: number): ChainSnapshots => {
    const found = byChain.get(chainId);
    if (!found) throw new RangeError(`chain ${chainId} is not configured`);
    return found;
  };
  return {
    head: (chainId) => of(chainId).head(),
    cached: (chainId, pool, kind) => of(chainId).cached(pool, kind),
    prices: (chainId: number, pools: readonly ServedPool[], options?: ReadOptions) =>
      of(chainId).prices(pools, options),
    depths: (chainId: number, pools: readonly ServedPool[], options?: ReadOptions) =>
      of(chainId).depths(pools, options),
  };
}

function createChainSnapshots(
  chain: ChainConfig,
  { quotes, countCall, countLookup, countDisagreement, logger }: SnapshotServiceDeps,
): ChainSnapshots {
  const isEthereum = chain.chainId === 1 || chain.pamm?.kind === 'ethereum';
  const readTimeoutMs = isEthereum ? quotes.ethereumReadTimeoutMs : quotes.readTimeoutMs;
  // A node that is slow must leave time to ask the next one.
  const timeoutMs = Math.min(quotes.rpcTimeoutMs, Math.ceil(readTimeoutMs / Math.min(2, chain.rpcUrls.length)));
  const rpc = openChainRpc(chain, timeoutMs, countCall);
  const target = { rpc, chainId: chain.chainId, multicall3: chain.multicall3 };
  const clockOptions = { blockTimeMs: chain.blockTimeMs, minRefreshMs: quotes.minRefreshMs };
  const reads = new ChainReads({
    clock: new BlockClock<ReportedHead>(rpc, clockOptions),
    reader: new PoolReader(target, logger.child({ chainId: chain.chainId })),
    prober: new GuardProber(target, (pool) => {
      countDisagreement?.(chain.chainId);
      logger.warn({ chainId: chain.chainId, pool }, 'guards did not do what their state says: every bin is probed');
    }),
    readTimeoutMs,
    hasOtherNodes: chain.rpcUrls.length > 1,
  });
  const { waitTimeoutMs, cacheBins } = quotes;
  return new ChainSnapshots(reads, {
    waitTimeoutMs,
    cacheBins,
    slowIsUnavailable: isEthereum,
    countLookup: (lookup: SnapshotLookup) => countLookup?.(chain.chainId, lookup),
  });
}
