import { Command } from 'commander';
import { Hono } from 'hono';
import type { Redis } from 'ioredis';
import { assertChainIds } from '../chain/chain-ids.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { openDatabase } from '../db/connection.ts';
import { assertDatabaseLogin } from '../db/setting-error.ts';
import { mountHealth } from '../runtime/health.ts';
import { startServer } from '../runtime/http-server.ts';
import { createLogger, type Logger, logStart } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { connectQueueing } from '../runtime/redis-connections.ts';
import { runMain } from '../runtime/run-main.ts';
import { stopOnSignal } from '../runtime/shutdown.ts';
import { startAuditWriter } from './deliver/audit-writer.ts';
import { startBuildersWorker } from './deliver/worker.ts';
import { RedisKeys } from './submit/queue/redis-keys.ts';

const HELP = `
Sends queued quote updates to block builders and writes their audit trail. Several may run: one at a time holds each
builder endpoint.

Settings are environment variables, see docs/run/settings.md; the builders' keys have the names that the chains file gives.`;

runMain(async () => {
  new Command('builders').description('Delivery of quote updates.').addHelpText('after', HELP).parse();
  const env = readEnvironment([
    ...(['CHAINS_CONFIG', 'REDIS_URL', 'DATABASE_URL', 'LOG_LEVEL', 'HOST'] as const),
    ...(['QUEUE_PREFIX', 'PAMM_SIMULATION', 'PAMM_AUDIT_RETENTION_DAYS'] as const),
  ]);
  const { chains } = loadChainsFile(env.CHAINS_CONFIG);
  const logger = createLogger('builders', env.LOG_LEVEL);
  const database = openDatabase(env.DATABASE_URL, 'ptd_builders', logger, { max: 2 });
  await Promise.all([assertChainIds(chains), assertDatabaseLogin(database.$client, 'DATABASE_URL')]);
  logStart(logger);
  const metrics = createMetrics('builders');
  const keys = new RedisKeys(env.QUEUE_PREFIX);
  const redis = connectQueueing(env.REDIS_URL, logger);
  const simulate = env.PAMM_SIMULATION === 'on';
  const worker = startBuildersWorker({ chains, env: process.env, redis, keys, simulate, metrics, logger });
  const retentionDays = env.PAMM_AUDIT_RETENTION_DAYS;
  const auditWriter = startAuditWriter({ redis, keys, database, retentionDays, metrics, logger });
  const app = new Hono();
  mountHealth(app, { metrics, checks: { redis: async () => (redis.status === 'ready' ? null : 'not connected') } });
  const server = process.env.PORT ? await startServer(app, env.HOST, readEnvironment(['PORT']).PORT) : undefined;
  void warnWithoutAppendOnlyFile(redis, logger);
  logger.info('ready');

  const onStop = stopOnSignal(logger);
  onStop('Redis', () => redis.disconnect());
  onStop('database', () => database.$client.end());
  onStop('health server', () => server?.stop(1_000));
  onStop('audit trail', () => auditWriter.stop());
  onStop('deliveries', () => worker.stop());
});

/** Warns when Redis has no append-only file: without one, order and cancels do not survive a crash of Redis. */
async function warnWithoutAppendOnlyFile(redis: Redis, logger: Logger): Promise<void> {
  try {
    const info = await redis.info('persistence');
    if (!info.includes('aof_enabled:1'))
      logger.warn('Redis keeps no append-only file: a crash of it forgets queued updates and cancels');
  } catch (error) {
    logger.warn({ err: error }, 'cannot see whether Redis keeps an append-only file');
  }
}
