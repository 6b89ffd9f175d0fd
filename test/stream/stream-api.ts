import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { streamResource } from '../../api/stream/stream.ts';
import { startStreams } from '../../api/stream/streams.ts';
import { WEB_SOCKET_PATHS } from '../../api/stream/web-socket.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { StreamConfig } from '../../config/stream-schema.ts';
import { DepthEstimates } from '../../quoting/depth-estimates.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { createSnapshotService, type SnapshotOptions } from '../../quoting/reads/snapshot-service.ts';
import { startPoolWarmers } from '../../quoting/requested/pool-warmers.ts';
import { createSharedChains, startSharedReads } from '../../quoting/sharing/start-shared-reads.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { stillQuotes } from '../quotes/quote-world.ts';

export interface StreamApiOptions {
  readonly chain: ChainConfig;
  readonly directory: PoolDirectory;
  readonly quotes?: SnapshotOptions;
  readonly stream?: Partial<StreamConfig>;
  readonly pingMs?: number;
  /** Reads the chain with other APIs of this Redis. */
  readonly sharedBy?: { readonly redisUrl: string; readonly prefix: string };
}

/** Streams and quotes of a chain over a real server; `good` is a valid key, request limits are off. */
export async function startStreamApi({ chain, directory, ...options }: StreamApiOptions) {
  const { quotes = { ...stillQuotes, minRefreshMs: 50 } } = options;
  const logger = createLogger('test', 'silent');
  const calls: string[] = [];
  const lookups: string[] = [];
  const estimates = new DepthEstimates();
  const shared = options.sharedBy && createSharedChains([chain]);
  const snapshots = createSnapshotService({
    chains: [chain],
    quotes,
    logger,
    ...(shared && { shared }),
    observe: (chainId) => ({
      curve: estimates.of(chainId).report,
      lookup: (result, count = 1) => lookups.push(...Array(count).fill(result)),
    }),
    countCall: (_chainId, method) => calls.push(method),
  });
  const metrics = createMetrics('test');
  const warmers = startPoolWarmers({
    chains: [chain],
    quotes,
    snapshots,
    directory,
    metrics,
    logger,
    isFunded: () => true,
    curveMethodOf: (pool) => estimates.of(pool.chainId).curveMethod(pool),
  });
  const sharing =
    shared &&
    options.sharedBy &&
    startSharedReads({ ...options.sharedBy, chains: [chain], reads: shared, warmers, metrics, logger });
  // No pool of these tests is delisted.
  const database = { query: async () => ({ rows: [] }) } as never;
  const streams = startStreams({
    chainIds: [chain.chainId],
    config: { ...StreamConfig.parse({}), ...options.stream },
    warmers,
    snapshots,
    directory,
    database,
    metrics,
    logger,
  });
  const { connections } = streams;
  const chains = new Map([[chain.chainId, chain]]);
  const deps = { chains, directory, snapshots, streams, trustedProxies: 0, warmers };
  const redis = new Redis(inject('redisUrl'), { lazyConnect: true });
  const app = createApp([...bindRoutes(quotesResource, deps), ...bindRoutes(streamResource, deps)], {
    verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
    rateLimit: { limits: LimitsConfig.parse({ enabled: false }), redis, prefix: 'test', trustedProxies: 0 },
    webSockets: {
      chains,
      streams,
      pingMs: options.pingMs ?? 15_000,
    },
    metrics,
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0, { webSockets: WEB_SOCKET_PATHS });
  const base = `http://127.0.0.1:${server.port}/public/v1/evm/${chain.chainId}`;
  return {
    base,
    calls,
    lookups,
    connections,
    metrics,
    warmer: warmers.of(chain.chainId),
    /** Whether it reads the chain for all. */
    isLeading: () => shared?.(chain.chainId).isLeading === true,
    /** Ends the streams as a stop of the process does. */
    closeStreams: () => streams.stop(),
    async stop() {
      streams.stop();
      await server.stop(1_000);
      await warmers.stop();
      await sharing?.stop();
    },
  };
}

export type StreamApi = Awaited<ReturnType<typeof startStreamApi>>;
