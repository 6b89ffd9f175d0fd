import { Redis } from 'ioredis';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { levelsResource } from '../../api/levels/levels.ts';
import { rpcResource } from '../../api/levels/rpc.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { WEB_SOCKET_PATHS } from '../../api/sockets/open-socket.ts';
import { streamResource } from '../../api/stream/stream.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { QuoteOptions } from '../../quoting/chain-bounds.ts';
import { type ChainDeps, openChain, processClock } from '../../quoting/open-chain.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import type { Clock } from '../../runtime/clock.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { startSharedClock } from '../../runtime/shared-clock.ts';
import { stillQuotes } from '../quotes/quote-world.ts';
import { openStreams } from './open-streams.ts';

export interface StreamApiOptions {
  readonly chain: ChainConfig;
  readonly directory: PoolDirectory;
  readonly quotes?: QuoteOptions;
  readonly stream?: Partial<StreamConfig>;
  readonly pingMs?: number;
  /** Reads the chain with other APIs of this Redis. */
  readonly sharedBy?: { readonly redisUrl: string; readonly prefix: string };
  /** How wrong the clock of its machine is, where it shares another one, milliseconds. */
  readonly clockAheadMs?: number;
  /** Request limits, counted in the Redis of `sharedBy`. Default: none. */
  readonly limits?: LimitsConfig;
  /** The clock that quotes are read by. Default: that of the process. */
  readonly now?: Clock;
  readonly observeLive?: ChainDeps['observeLive'];
}

/** A database in which no pool is delisted, and all are listed. */
function listingOf(chainId: number, directory: PoolDirectory) {
  const query = async (statement: string | { readonly text: string }) => {
    if (typeof statement === 'string' || !statement.text.includes('"chainIds"')) return { rows: [] };
    const pools = (await directory.table()).ofChain(chainId).map(({ address }) => address);
    return { rows: [{ version: null, chainIds: pools.map(() => String(chainId)), pools }] };
  };
  const nothing = () => undefined;
  return { query, connect: async () => ({ query, on: nothing, off: nothing, release: nothing }) } as never;
}

/** Streams and quotes of a chain over a real server; `good` is a valid key. */
export async function startStreamApi({ chain, directory, ...options }: StreamApiOptions) {
  const { quotes = { ...stillQuotes, minRefreshMs: 50 }, now = processClock, observeLive } = options;
  const logger = createLogger('test', 'silent');
  const calls: string[] = [];
  const lookups: string[] = [];
  const metrics = createMetrics('test');
  const sharing = options.sharedBy && new ReadSharing({ ...options.sharedBy, metrics, logger, now });
  const opened = openChain(chain, {
    quotes,
    directory,
    sharing,
    logger,
    observe: () => ({ lookup: (result, count = 1) => lookups.push(...Array(count).fill(result)) }),
    countCall: (_chainId, method) => calls.push(method),
    ...(observeLive && { observeLive }),
    now,
  });
  const chains = new Map([[chain.chainId, opened]]);
  const database = listingOf(chain.chainId, directory);
  const { sharedBy, clockAheadMs = 0 } = options;
  const clocks = { now: () => performance.now(), wallClock: () => Date.now() + clockAheadMs };
  const sharedRedis = sharedBy && new Redis(sharedBy.redisUrl, { maxRetriesPerRequest: 0 });
  // The first answer about the time is to be as quick as others.
  await sharedRedis?.ping().catch(() => undefined);
  const shared = sharedRedis && (await startSharedClock(sharedRedis, clocks));
  const { clock: wallClock, stamp } = shared ?? {};
  const opening = { chains, directory, database, metrics, logger, stream: options.stream, wallClock, stamp };
  const { sockets, streams, takers, stop } = openStreams(opening);
  const { pingMs = 15_000, limits = LimitsConfig.parse({ enabled: false }) } = options;
  const deps = { chains, directory, sockets, streams, takers, logger, pingMs, trustedProxies: 0 };
  // Without limits it never connects.
  const redis = sharedRedis ?? new Redis({ lazyConnect: true });
  const routes = [quotesResource, streamResource, levelsResource, rpcResource].flatMap((each) =>
    bindRoutes(each, deps),
  );
  const app = createApp(routes, {
    verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
    rateLimit: { limits, redis, prefix: sharedBy?.prefix ?? 'test', trustedProxies: 0 },
    webSockets: { sockets, streams, takers, pingMs },
    metrics,
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0, { webSockets: WEB_SOCKET_PATHS });
  const base = `http://127.0.0.1:${server.port}/public/v1/evm/${chain.chainId}`;
  return {
    base,
    calls,
    lookups,
    connections: sockets.connections,
    metrics,
    chain: opened,
    /** Ends the streams as a stop of the process does. */
    closeStreams: () => sockets.stop(),
    async stop() {
      stop();
      await server.stop(1_000);
      await opened.stop();
      sharing?.stop();
      shared?.stop();
      sharedRedis?.disconnect();
    },
  };
}

export type StreamApi = Awaited<ReturnType<typeof startStreamApi>>;
