import { Command } from 'commander';
import { Hono } from 'hono';
import { measureBlockTimes } from '../chain/block-time.ts';
import { assertChainIds } from '../chain/chain-ids.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { readSecret } from '../config/read-secret.ts';
import { openDatabase } from '../db/connection.ts';
import { assertDatabaseLogin } from '../db/setting-error.ts';
import { PRICE_STATUS_MAX_AGE_SECS } from '../protocol/quote-status.ts';
import { liveMetrics } from '../quoting/live/live-metrics.ts';
import { ReadSharing } from '../quoting/sharing/read-sharing.ts';
import { chainCallCounter } from '../runtime/chain-calls.ts';
import { mountHealth } from '../runtime/health.ts';
import { startServer } from '../runtime/http-server.ts';
import { createLogger, logStart } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { runMain } from '../runtime/run-main.ts';
import { stopOnSignal } from '../runtime/shutdown.ts';
import { auditGauges } from './audit/audit-report.ts';
import { calibrationGauge } from './calibration/calibration-report.ts';
import { now } from './capture-chain.ts';
import { captureJobs } from './capture-jobs.ts';
import { startJobs } from './jobs.ts';
import { readGauges } from './read-schedule/read-gauges.ts';

const HELP = `
Reads what the chains and price sources say, on a schedule, and keeps the listing ready: price status of every pool, fiat
prices, tiers, 24-hour figures. Several may run; one is enough.

Settings (environment):
  CHAINS_CONFIG              the chains file
  DATABASE_URL               the database that the indexer writes
  REDIS_URL, QUEUE_PREFIX    those of the API, whose live sources capture then shares (optional)
  FIAT_PRICE_MAX_AGE_SECS    age at which a fiat price stops counting (5400)
  DEFILLAMA_URL              address of DefiLlama's coin API
  PORT                       serves /health, /ready and /metrics when set
  LOG_LEVEL                  silent to trace (info)`;

runMain(async () => {
  new Command('capture').description('Scheduled work of the listing.').addHelpText('after', HELP).parse();
  const env = readEnvironment([
    ...(['CHAINS_CONFIG', 'DATABASE_URL', 'LOG_LEVEL', 'HOST'] as const),
    ...(['FIAT_PRICE_MAX_AGE_SECS', 'DEFILLAMA_URL'] as const),
  ]);
  const read = loadChainsFile(env.CHAINS_CONFIG);
  const isLive = read.chains.some(({ live }) => live);
  const redis =
    isLive && readSecret('REDIS_URL', process.env) ? readEnvironment(['REDIS_URL', 'QUEUE_PREFIX']) : undefined;
  const logger = createLogger('capture', env.LOG_LEVEL);
  const database = openDatabase(env.DATABASE_URL, 'ptd_capture', logger, { max: 6 });
  const [chains] = await Promise.all([
    measureBlockTimes(read.chains, logger),
    assertChainIds(read.chains),
    assertDatabaseLogin(database.$client, 'DATABASE_URL'),
  ]);
  const file = { ...read, chains };
  logStart(logger);
  const metrics = createMetrics('capture');
  const onStop = stopOnSignal(logger);
  onStop('database', () => database.$client.end());
  const sharing =
    redis && new ReadSharing({ redisUrl: redis.REDIS_URL, prefix: redis.QUEUE_PREFIX, metrics, logger, now });
  onStop('read sharing', () => sharing?.stop());
  const jobs = startJobs(
    captureJobs({
      file,
      database: database.$client,
      fiatMaxAgeSecs: env.FIAT_PRICE_MAX_AGE_SECS,
      statusMaxAgeSecs: PRICE_STATUS_MAX_AGE_SECS,
      llamaUrl: env.DEFILLAMA_URL,
      env: process.env,
      countCall: chainCallCounter(metrics),
      observeLive: liveMetrics(metrics),
      sharing,
      onRead: readGauges(metrics),
      onCalibration: calibrationGauge(metrics),
      onAudit: auditGauges(metrics),
      onStop,
      logger,
    }),
    database.$client,
    metrics,
    logger,
  );
  const app = new Hono();
  mountHealth(app, { metrics, checks: jobs.checks });
  const server = process.env.PORT ? await startServer(app, env.HOST, readEnvironment(['PORT']).PORT) : undefined;
  logger.info({ port: server?.port }, 'capture is running');

  onStop('jobs', () => jobs.stop());
  onStop('health server', () => server?.stop(1_000));
});
