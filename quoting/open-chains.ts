import type { Registry } from 'prom-client';
import type { ChainConfig } from '../config/chains-schema.ts';
import type { QuotesConfig } from '../config/quotes-schema.ts';
import type { Environment } from '../config/read-secret.ts';
import type { Database } from '../db/connection.ts';
import { waitForIndex } from '../db/first-index.ts';
import { chainCallCounter } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OnStop } from '../runtime/shutdown.ts';
import { reportedDepth } from './depth-estimates.ts';
import { liveMetrics } from './live/live-metrics.ts';
import { type Chain, openChain, processClock } from './open-chain.ts';
import { PoolCatalog } from './pools/pool-catalog.ts';
import { type RequestedOf, showRequested } from './requested/requested-metrics.ts';
import { ReadSharing } from './sharing/read-sharing.ts';
import { snapshotMetrics } from './snapshot-metrics.ts';

export interface ChainsDeps {
  readonly chains: readonly ChainConfig[];
  /** Holds the keys of sources of live prices. */
  readonly env: Environment;
  readonly quotes: QuotesConfig;
  readonly database: Database;
  readonly redisUrl: string;
  /** `QUEUE_PREFIX`. */
  readonly queuePrefix: string;
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** What the operator should know of live prices, by chain. */
export const liveWarnings = (chains: ReadonlyMap<number, Chain>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    chains.values().flatMap((chain) => {
      const warning = chain.liveWarning();
      return warning === undefined ? [] : [[`live-${chain.chainId}`, warning]];
    }),
  );

/** Opens all chains of the configuration, and loads their pools once there is an index. */
export function openChains(
  { chains: configs, env, quotes, database, redisUrl, queuePrefix, metrics, logger }: ChainsDeps,
  onStop: OnStop,
): { readonly chains: ReadonlyMap<number, Chain>; readonly catalog: PoolCatalog } {
  const waiting = new AbortController();
  const firstIndex = waitForIndex(database.$client, waiting.signal);
  onStop('wait for the first index', () => waiting.abort());
  const catalog = new PoolCatalog({ chains: configs, database, firstIndex, logger, now: processClock });
  onStop('pool catalog', () => catalog.stop());
  const sharing = new ReadSharing({ redisUrl, prefix: queuePrefix, metrics, logger, now: processClock });
  onStop('read sharing', () => sharing.stop());
  const deps = {
    quotes,
    directory: catalog,
    isFunded: (pool: Parameters<PoolCatalog['isFunded']>[0]) => catalog.isFunded(pool),
    countCall: chainCallCounter(metrics),
    observe: snapshotMetrics(metrics),
    env,
    observeLive: liveMetrics(metrics),
    sharing,
    logger,
  };
  const chains = new Map(configs.map((config) => [config.chainId, openChain(config, deps)]));
  onStop('chains', () => Promise.all(chains.values().map((chain) => chain.stop())));
  catalog.onReport((pool, report) => {
    chains.get(pool.chainId)?.estimates.record(pool, report && reportedDepth(pool, report));
  });
  showRequested(metrics, [...chains.values()].flatMap(requestedOf));
  return { chains, catalog };
}

const requestedOf = ({ chainId: chain, warmer, liveQuotes }: Chain): RequestedOf[] => [
  { chain, basis: 'committed', warmer },
  ...(liveQuotes ? [{ chain, basis: 'live', warmer: liveQuotes.warmer } as const] : []),
];
