import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { createApp } from '../../api/app.ts';
import { readPageFiles } from '../../api/explorer/page-files.ts';
import { mountExplorer } from '../../api/explorer/pages.ts';
import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { bindResources } from '../../api/resources.ts';
import { WEB_SOCKET_PATHS } from '../../api/sockets/open-socket.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { openChain } from '../../quoting/open-chain.ts';
import { NO_AUDIT } from '../../quoting/pools/chain-catalog.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import type { Listing } from '../metadata/listing-fixture.ts';
import { longTimeouts } from '../quotes/quote-world.ts';
import { openStreams } from '../stream/open-streams.ts';

export interface ServedExplorer {
  readonly configs: readonly ChainConfig[];
  readonly directory: PoolDirectory;
  readonly listing: Listing;
  readonly lags: readonly ChainLag[];
}

/** Serves the API with its web page on a free port. */
export async function serveExplorer({ configs, directory, listing, lags }: ServedExplorer) {
  const logger = createLogger('test', 'silent');
  const metrics = createMetrics('test');
  const deps = { quotes: { ...longTimeouts, minRefreshMs: 100 }, directory, countCall: () => undefined, logger };
  const chains = new Map(configs.map((each) => [each.chainId, openChain(each, deps)]));
  const { stop, ...sockets } = openStreams({ chains, directory, metrics, logger, database: listing.pool });
  const app = createApp(
    bindResources({
      chains,
      directory,
      database: listing.pool,
      statusMaxAgeSecs: 86_400,
      now: () => performance.now(),
      wallClock: Date.now,
      endpoints: new Map(),
      ...sockets,
      logger,
      metrics,
      trustedProxies: 0,
      submit: () => Promise.reject(new Error('not for this test')),
      lags: () => lags,
      ages: () => ({
        newestPriceAgeSecs: 3,
        oldestPriceAgeSecs: 9,
        listingAgeSecs: 2,
        fiatPriceAgeSecs: 45,
        fiatPricesLost: false,
        audit: NO_AUDIT,
        faultyNodes: [],
      }),
    }),
    {
      verifyKey: async () => null,
      rateLimit: {
        limits: LimitsConfig.parse({ enabled: false }),
        // Limits are off: it never connects.
        redis: new Redis(inject('redisUrl'), { lazyConnect: true }),
        prefix: 'test',
        trustedProxies: 0,
      },
      webSockets: sockets,
      metrics,
      logger,
      pages: await pagesOf(),
    },
  );
  const server = await startServer(app, '127.0.0.1', 0, { webSockets: WEB_SOCKET_PATHS });
  return {
    url: `http://127.0.0.1:${server.port}`,
    stop: async () => {
      stop();
      await server.stop(100);
      await Promise.all(chains.values().map((chain) => chain.stop()));
    },
  };
}

async function pagesOf(): Promise<NonNullable<Parameters<typeof createApp>[1]['pages']>> {
  const files = await readPageFiles({ name: 'Pools & more', logo: undefined });
  return (app) => mountExplorer(app, files);
}
