import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { pammResource } from '../../api/pamm/pamm-quote.ts';
import { startPamm } from '../../api/pamm/start-pamm.ts';
import { readEnvironment } from '../../config/environment.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { loadChainsFile } from '../../config/load-chains.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { connectQueueing } from '../../runtime/redis-connections.ts';
import { runMain } from '../../runtime/run-main.ts';
import { stopOnSignal } from '../../runtime/shutdown.ts';

/** The quote-update endpoint alone as a process, for tests that kill it and for the benchmark; any key is valid. */
runMain(async () => {
  const env = readEnvironment(['CHAINS_CONFIG', 'REDIS_URL', 'PORT', 'LOG_LEVEL', 'QUEUE_PREFIX', 'PAMM_SIMULATION']);
  const { chains } = loadChainsFile(env.CHAINS_CONFIG);
  const logger = createLogger('api', env.LOG_LEVEL);
  const registry = createMetrics('api');
  const limiterRedis = connectQueueing(env.REDIS_URL, logger);
  const pamm = startPamm({
    chains: new Map(chains.map((chain) => [chain.chainId, chain])),
    env: process.env,
    redisUrl: env.REDIS_URL,
    queuePrefix: env.QUEUE_PREFIX,
    metrics: registry,
    logger,
  });
  const app = createApp(bindRoutes(pammResource, pamm.deps), {
    verifyKey: async () => ({ keyId: 'any', holder: 'any' }),
    rateLimit: {
      limits: LimitsConfig.parse({ enabled: false }),
      redis: limiterRedis,
      prefix: env.QUEUE_PREFIX,
      trustedProxies: 0,
    },
    metrics: registry,
    logger,
  });
  const server = await startServer(app, '127.0.0.1', env.PORT);
  process.stdout.write(`listening on ${server.port}\n`);
  const onStop = stopOnSignal(logger);
  onStop('limits', () => limiterRedis.disconnect());
  onStop('quote updates', () => pamm.stop());
  onStop('server', () => server.stop(1_000));
});
