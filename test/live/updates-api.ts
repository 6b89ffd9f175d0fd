import { Redis } from 'ioredis';
import type pg from 'pg';
import { createApp } from '../../api/app.ts';
import { createKeyVerifier } from '../../api/auth/key-verifier.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { pammResource } from '../../api/pamm/pamm-quote.ts';
import { startPamm } from '../../api/pamm/start-pamm.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { userRules } from '../../local/services/redis.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';

interface UpdatesApiDeps {
  readonly chains: readonly ChainConfig[];
  /** Has the keys of makers. */
  readonly database: pg.Pool;
  readonly redisUrl: string;
  readonly prefix: string;
  /** A connection to Redis that may do everything. */
  readonly admin: Redis;
}

/**
 * Starts an API that takes quote updates alone, as a user of Redis of its own.
 *
 * @param opened how it ends
 * @returns the user, and the URL of the API
 */
export async function startUpdatesApi(
  opened: AsyncDisposableStack,
  { chains, database, redisUrl, prefix, admin }: UpdatesApiDeps,
): Promise<{ readonly user: string; readonly url: string }> {
  const user = `pamm-${prefix}`;
  await admin.acl('SETUSER', user, 'on', `>${user}`, ...userRules(prefix));
  opened.defer(async () => void (await admin.acl('DELUSER', user)));
  const logger = createLogger('test', 'silent');
  const pamm = startPamm({
    chains: new Map(chains.map((chain) => [chain.chainId, chain])),
    env: {},
    redisUrl: Object.assign(new URL(redisUrl), { username: user, password: user }).href,
    queuePrefix: prefix,
    responseTimeoutMs: 5_000,
    metrics: createMetrics('test'),
    logger,
  });
  opened.defer(() => pamm.stop());
  const limiter = opened.adopt(new Redis(redisUrl, { lazyConnect: true }), (it) => it.disconnect());
  const app = createApp(bindRoutes(pammResource, pamm.deps), {
    verifyKey: createKeyVerifier(database, Date.now),
    rateLimit: { limits: LimitsConfig.parse({ enabled: false }), redis: limiter, prefix, trustedProxies: 0 },
    metrics: createMetrics('test'),
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0);
  opened.defer(() => server.stop(1_000));
  return { user, url: `http://127.0.0.1:${server.port}` };
}
