import { Command } from 'commander';
import { Hono } from 'hono';
import { assertChainIds } from '../chain/chain-ids.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { openDatabase, SHORT_STATEMENTS } from '../db/connection.ts';
import { waitForIndex } from '../db/first-index.ts';
import { assertDatabaseLogin } from '../db/setting-error.ts';
import { PRICE_STATUS_MAX_AGE_SECS } from '../protocol/quote-status.ts';
import { DepthEstimates, reportedDepth } from '../quoting/depth-estimates.ts';
import { PoolCatalog } from '../quoting/pools/pool-catalog.ts';
import { startSnapshots } from '../quoting/reads/snapshot-service.ts';
import { startPoolWarmers } from '../quoting/requested/pool-warmers.ts';
import { createSharedChains, startSharedReads } from '../quoting/sharing/start-shared-reads.ts';
import { type RunningServer, startServer } from '../runtime/http-server.ts';
import { createLogger, logStart } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { connectFailFast } from '../runtime/redis-connections.ts';
import { runMain } from '../runtime/run-main.ts';
import { stopOnSignal } from '../runtime/shutdown.ts';
import { createApp } from './app.ts';
import { createKeyVerifier } from './auth/key-verifier.ts';
import { readPageFiles } from './explorer/page-files.ts';
import { mountExplorer } from './explorer/pages.ts';
import { type Operations, startOperations } from './observability/operations.ts';
import { startPamm } from './pamm/start-pamm.ts';
import { bindResources } from './resources.ts';
import { startStreams } from './stream/streams.ts';
import { WEB_SOCKET_PATHS } from './stream/web-socket.ts';

const DEFAULT_PORT = '3000';
/** Requests in flight at a stop get this long. */
const GRACE_MS = 10_000;

/** A count of requests that Redis does not answer in this time is kept in memory instead. */
const COUNT_TIMEOUT_MS = 200;

const SETTINGS = [
  'CHAINS_CONFIG',
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
  'QUEUE_PREFIX',
  'INDEXING_MAX_LAG_SECS',
  'TRUSTED_PROXIES',
  'EXPLORER',
  'EXPLORER_LOGO',
  'PORT',
  'REUSE_PORT',
  'OPERATIONS_PORT',
  'HOST',
  'LOG_LEVEL',
] as const;

runMain(async () => {
  new Command('api')
    .description('Serves the public HTTP API.')
    .addHelpText('after', `\nSettings: ${SETTINGS.join(', ')}. docs/run/settings.md explains each.`)
    .parse();
  await serve();
});

async function serve(): Promise<void> {
  const env = { ...process.env, PORT: process.env.PORT || DEFAULT_PORT };
  const settings = readEnvironment(SETTINGS, env);
  const file = loadChainsFile(settings.CHAINS_CONFIG);
  const logger = createLogger('api', settings.LOG_LEVEL);
  const pageFiles =
    settings.EXPLORER === 'on' ? await readPageFiles({ ...file.explorer, logo: settings.EXPLORER_LOGO }) : null;
  const metrics = createMetrics('api');
  const chains = new Map(file.chains.map((chain) => [chain.chainId, chain]));
  // The API only reads: a replica, when there is one, takes all of it.
  const readUrl = settings.DATABASE_REPLICA_URL ?? settings.DATABASE_URL;
  const database = openDatabase(readUrl, 'ptd_api', logger, undefined, SHORT_STATEMENTS);
  const urlSetting = settings.DATABASE_REPLICA_URL ? 'DATABASE_REPLICA_URL' : 'DATABASE_URL';
  await Promise.all([assertChainIds(file.chains), assertDatabaseLogin(database.$client, urlSetting)]);
  logStart(logger);
  const redis = connectFailFast(settings.REDIS_URL, logger, { commandTimeout: COUNT_TIMEOUT_MS });
  const common = { chains: file.chains, quotes: file.quotes, database: database.$client, metrics, logger };
  const stopping = new AbortController();
  const estimates = new DepthEstimates();
  const catalog = new PoolCatalog({
    ...common,
    database,
    firstIndex: waitForIndex(database.$client, stopping.signal),
    onReport: (pool, report) => estimates.of(pool.chainId).record(pool, report && reportedDepth(pool, report)),
  });
  const shared = createSharedChains(file.chains);
  const snapshots = startSnapshots({
    ...common,
    shared,
    onCurve: (chainId, report) => estimates.of(chainId).report(report),
  });
  const warmers = startPoolWarmers({
    ...common,
    snapshots,
    directory: catalog,
    isFunded: (pool) => catalog.isFunded(pool),
    curveMethodOf: (pool) => estimates.of(pool.chainId).curveMethod(pool),
  });
  const streams = startStreams({
    ...common,
    chainIds: [...chains.keys()],
    config: file.stream,
    warmers,
    snapshots,
    directory: catalog,
  });
  const { REDIS_URL: redisUrl, QUEUE_PREFIX: queuePrefix } = settings;
  const sharedReads = startSharedReads({ ...common, reads: shared, warmers, redisUrl, prefix: queuePrefix });
  const pamm = startPamm({ ...common, chains, env, redisUrl, queuePrefix });
  const operations = startOperations({
    ...common,
    maxLagSecs: settings.INDEXING_MAX_LAG_SECS,
    knownHead: (chainId) => snapshots.of(chainId).clock.told?.block,
    readHead: async (chainId) => (await snapshots.of(chainId).clock.head()).block,
    warnings: pamm.warnings,
  });
  const app = createApp(
    bindResources({
      ...pamm.deps,
      chains,
      directory: catalog,
      snapshots,
      estimates,
      warmers,
      streams,
      trustedProxies: settings.TRUSTED_PROXIES,
      database: database.$client,
      statusMaxAgeSecs: PRICE_STATUS_MAX_AGE_SECS,
      lags: operations.lags,
      ages: (chainId) => catalog.ages(chainId),
    }),
    {
      verifyKey: createKeyVerifier(database.$client),
      rateLimit: {
        limits: file.limits,
        redis,
        prefix: settings.QUEUE_PREFIX,
        trustedProxies: settings.TRUSTED_PROXIES,
      },
      webSockets: { chains, streams },
      metrics,
      logger,
      pages: (it) => {
        if (settings.OPERATIONS_PORT === undefined) operations.pages(it);
        if (pageFiles) mountExplorer(it, pageFiles);
      },
    },
  );
  const server = await startServer(app, settings.HOST, settings.PORT, {
    webSockets: WEB_SOCKET_PATHS,
    reusePort: settings.REUSE_PORT === 'on',
  });
  const operationsServer = await serveOperations(operations, settings);
  logger.info({ port: server.port, chains: [...chains.keys()] }, 'listening');
  stopOnSignal(logger, [
    ['streams', async () => streams.stop()],
    ['http', () => server.stop(GRACE_MS)],
    ['warmers', () => warmers.stop()],
    ['shared reads', () => sharedReads.stop()],
    ['pamm', () => pamm.stop()],
    ['operations', async () => operationsServer?.stop(0)],
    ['indexing watch', async () => operations.stop()],
    ['head feeds', async () => snapshots.stop()],
    ['pool catalog', async () => catalog.stop()],
    ['wait for the first index', async () => stopping.abort()],
    ['redis', async () => redis.disconnect()],
    ['database', () => database.$client.end()],
  ]);
}

/** The operator's routes on a port of their own, if they are to have one. */
async function serveOperations(
  operations: Operations,
  { HOST, OPERATIONS_PORT }: { readonly HOST: string; readonly OPERATIONS_PORT?: number | undefined },
): Promise<RunningServer | undefined> {
  if (OPERATIONS_PORT === undefined) return undefined;
  const app = new Hono();
  operations.pages(app);
  return startServer(app, HOST, OPERATIONS_PORT, { setting: 'OPERATIONS_PORT' });
}
