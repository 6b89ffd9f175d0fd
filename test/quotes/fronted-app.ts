import type { Redis } from 'ioredis';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import type { PoolTable } from '../../quoting/pools/pool-directory.ts';
import type { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { CHAIN_A, CHAINS_FILE, type Listing } from '../metadata/listing-fixture.ts';
import { chainConfig, stillQuotes } from './quote-world.ts';
import { quotedChains } from './quoted-chains.ts';

interface Backends {
  readonly chain: DevChain;
  readonly listing: Listing;
  readonly redis: Redis;
  readonly table: PoolTable;
  readonly requested: RequestedPools;
}

/** `passedOn`: how many requests the cache has passed on to the app. */
export type Api = { readonly fronted: string; readonly bare: string; readonly passedOn: () => number };

/** The app behind the cache and without it, for this many requests a minute. */
export async function serveTwice(
  { chain, listing, redis, table, requested }: Backends,
  requests: number,
): Promise<{ servers: readonly RunningServer[]; api: Api }> {
  const served = chainConfig(CHAIN_A, [chain.rpcUrl]);
  const logger = createLogger('test', 'silent');
  const directory = { table: async () => table };
  const quoted = [...quotedChains([served], directory, { quotes: stillQuotes })].map(
    ([chainId, each]) => [chainId, { ...each, requested }] as const,
  );
  const chains = new Map(CHAINS_FILE.chains.map((each) => [each.chainId, each]));
  const quotes = bindRoutes(quotesResource, {
    chains: new Map(quoted),
    directory,
  });
  const quota = { requests, windowSecs: 60 };
  const app = createApp(
    [
      ...quotes,
      ...bindRoutes(metadataResource, {
        chains,
        database: listing.pool,
        statusMaxAgeSecs: 60,
        now: () => performance.now(),
      }),
    ],
    {
      verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
      rateLimit: {
        limits: LimitsConfig.parse({
          quote: { anonymous: quota, keyed: quota },
          listing: { anonymous: quota, keyed: quota },
        }),
        redis,
        prefix: `test-${requests}`,
        trustedProxies: 0,
      },
      metrics: createMetrics('test'),
      logger,
    },
  );
  let passedOn = 0;
  const counting = {
    front: app.front,
    fetch: (request: Request, env?: object) => {
      passedOn += 1;
      return app.fetch(request, env);
    },
  };
  const [fronted, bare] = [
    await startServer(counting, '127.0.0.1', 0),
    await startServer({ fetch: app.fetch }, '127.0.0.1', 0),
  ];
  const url = ({ port }: RunningServer) => `http://127.0.0.1:${port}`;
  const api = { fronted: url(fronted), bare: url(bare), passedOn: () => passedOn };
  return { servers: [fronted, bare], api };
}
