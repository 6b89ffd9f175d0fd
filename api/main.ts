import { Command } from 'commander';
import { measureBlockTimes } from '../chain/block-time.ts';
import { assertChainIds } from '../chain/chain-ids.ts';
import { API_SETTINGS, readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { openDatabase, SHORT_STATEMENTS } from '../db/connection.ts';
import { assertDatabaseLogin } from '../db/setting-error.ts';
import { PRICE_STATUS_MAX_AGE_SECS } from '../protocol/quote-status.ts';
import { liveWarnings, openChains } from '../quoting/open-chains.ts';
import type { Clocks } from '../runtime/clock.ts';
import { startServer } from '../runtime/http-server.ts';
import { createLogger, logStart } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { OutageLog } from '../runtime/outage-log.ts';
import { connectFailFast } from '../runtime/redis-connections.ts';
import { runMain } from '../runtime/run-main.ts';
import { startSharedClock } from '../runtime/shared-clock.ts';
import { stopOnSignal } from '../runtime/shutdown.ts';
import { createApp } from './app.ts';
import { createKeyVerifier } from './auth/key-verifier.ts';
import { readPageFiles } from './explorer/page-files.ts';
import { mountExplorer } from './explorer/pages.ts';
import { followQuotes } from './latest/chain-quotes.ts';
import { openTakers } from './levels/open-takers.ts';
import { startOperations } from './observability/operations.ts';
import { priceWarnings } from './observability/price-warnings.ts';
import { startPamm } from './pamm/start-pamm.ts';
import { bindResources } from './resources.ts';
import { WEB_SOCKET_PATHS } from './sockets/open-socket.ts';
import { startSockets } from './sockets/sockets.ts';
import { startStreams } from './stream/streams.ts';

const DEFAULT_PORT = '3000';
/** How long a stop waits for requests in flight. */
const GRACE_MS = 10_000;
/** Requests are counted in memory when Redis does not answer in this time. */
const COUNT_TIMEOUT_MS = 200;
/** An outage of Postgres or Redis, which is over once no request failed for a while. */
const STORES_OUTAGE = {
  begin: 'Postgres or Redis is unreachable: requests that need it fail',
  end: 'Postgres and Redis are reachable again',
  quietMs: 10_000,
};

const CLOCKS: Clocks = { now: () => performance.now(), wallClock: () => Date.now() };

runMain(async () => {
  new Command('api')
    .description('Serves the public HTTP API.')
    .addHelpText('after', `\nSettings: ${API_SETTINGS.join(', ')}. docs/run/settings.md explains each.`)
    .parse();
  await serve();
});

/** Reads the settings, and connects to the stores once they and the nodes are those of the settings. */
async function connectStores() {
  const env = { ...process.env, PORT: process.env.PORT || DEFAULT_PORT };
  const settings = readEnvironment(API_SETTINGS, env);
  const read = loadChainsFile(settings.CHAINS_CONFIG);
  const page = settings.EXPLORER === 'on' && { ...read.explorer, logo: settings.EXPLORER_LOGO };
  const pageFiles = page && (await readPageFiles(page));
  const logger = createLogger('api', settings.LOG_LEVEL);
  const metrics = createMetrics('api');
  const onStop = stopOnSignal(logger);

  // The API only reads, so a replica, if there is one, takes all its queries.
  const urlSetting = settings.DATABASE_REPLICA_URL ? 'DATABASE_REPLICA_URL' : 'DATABASE_URL';
  const database = openDatabase(settings[urlSetting] ?? '', 'ptd_api', logger, { settings: SHORT_STATEMENTS });
  onStop('database', () => database.$client.end());
  const [measured] = await Promise.all([
    measureBlockTimes(read.chains, logger),
    assertChainIds(read.chains),
    assertDatabaseLogin(database.$client, urlSetting),
  ]);
  const file = { ...read, chains: measured };
  logStart(logger);
  const redis = connectFailFast(settings.REDIS_URL, logger, { commandTimeout: COUNT_TIMEOUT_MS });
  onStop('redis', () => redis.disconnect());
  return { env, settings, file, pageFiles, database, redis, metrics, logger, onStop };
}

type Stores = Awaited<ReturnType<typeof connectStores>>;

/** Opens the chains and all that shows their quotes. */
async function openQuotes({ env, settings, file, database, redis, metrics, logger, onStop }: Stores) {
  const { REDIS_URL: redisUrl, QUEUE_PREFIX: queuePrefix } = settings;
  const common = { metrics, logger, database: database.$client };
  const { chains, catalog } = openChains({ ...file, env, redisUrl, queuePrefix, ...common, database }, onStop);
  const sockets = startSockets({ ...common, chains, config: file.stream });
  const latest = followQuotes(chains, catalog);
  const streams = startStreams({ ...common, latest, sockets });
  onStop('streams', () => streams.stop());
  const shared = await startSharedClock(redis, CLOCKS);
  onStop('shared clock', () => shared.stop());
  const clocks = { ...CLOCKS, wallClock: shared.clock, stamp: shared.stamp };
  const takers = openTakers({ ...common, chains, latest, directory: catalog, ...clocks });
  const pamm = startPamm({ ...common, chains, env, redisUrl, queuePrefix });
  onStop('pamm', () => pamm.stop());
  return { chains, catalog, sockets, streams, takers, pamm };
}

async function serve(): Promise<void> {
  const stores = await connectStores();
  const { settings, file, pageFiles, database, redis, metrics, logger, onStop } = stores;
  const { chains, catalog, sockets, streams, takers, pamm } = await openQuotes(stores);
  const {
    QUEUE_PREFIX: prefix,
    TRUSTED_PROXIES: trustedProxies,
    HOST: host,
    OPERATIONS_PORT: operationsPort,
  } = settings;
  const common = { database: database.$client, metrics, logger, chains, ...CLOCKS };
  const outage = new OutageLog(logger, STORES_OUTAGE);
  const ages = (chainId: number) => catalog.ages(chainId);
  const operations = startOperations({
    ...common,
    quotes: file.quotes,
    maxLagSecs: settings.INDEXING_MAX_LAG_SECS,
    warnings: async () => ({
      ...(await pamm.warnings()),
      ...liveWarnings(chains),
      ...priceWarnings(chains.keys(), ages),
    }),
    ages,
    stores: outage,
  });
  onStop('indexing watch', () => operations.stop());

  const routes = bindResources({
    ...pamm.deps,
    ...common,
    directory: catalog,
    sockets,
    streams,
    takers,
    trustedProxies,
    statusMaxAgeSecs: PRICE_STATUS_MAX_AGE_SECS,
    lags: operations.lags,
    ages,
  });
  const app = createApp(routes, {
    ...common,
    stores: outage,
    verifyKey: createKeyVerifier(database.$client, CLOCKS.now),
    rateLimit: { limits: file.limits, redis, prefix, trustedProxies },
    webSockets: { sockets, streams, takers },
    pages: (it) => {
      if (operationsPort === undefined) operations.pages(it);
      if (pageFiles) mountExplorer(it, pageFiles);
    },
  });
  const reusePort = settings.REUSE_PORT === 'on';
  const server = await startServer(app, host, settings.PORT, { webSockets: WEB_SOCKET_PATHS, reusePort });
  onStop('http', () => server.stop(GRACE_MS));
  // Sockets end before the server stops, which waits for its connections to end.
  onStop('sockets', () => sockets.stop());
  if (operationsPort !== undefined) await operations.serve(host, operationsPort);
  logger.info({ port: server.port, chains: [...chains.keys()] }, 'listening');
}
