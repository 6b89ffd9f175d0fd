import { Hono } from 'hono';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { readEnvironment } from '../../config/environment.ts';
import { mountHealth } from '../../runtime/health.ts';
import { startServer } from '../../runtime/http-server.ts';
import type { Logger } from '../../runtime/logger.ts';
import { connectFailFast } from '../../runtime/redis-connections.ts';
import { chainEndpoints } from '../submit/endpoints.ts';
import { EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import { mountQueueBoard } from './board/queue-board.ts';
import { registerQueueDepths } from './queue-depth.ts';

export type OperatorPagesDeps = {
  readonly chains: readonly ChainConfig[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The worker's own connection: ready when the worker is. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly registry: Registry;
  readonly logger: Logger;
};

export type OperatorPages = { close(): Promise<void> };

/** A page of the dashboard fails when Redis hangs for longer. */
const COMMAND_TIMEOUT_MS = 2_000;
const GRACE_MS = 1_000;

/**
 * Serves `/health`, `/ready`, `/metrics` and, with an `OPERATOR_KEY`, the queue dashboard on `PORT`; nothing when that is
 * not set.
 *
 * @throws ConfigError when a setting is wrong or the port cannot be listened on
 */
export async function startOperatorPages(deps: OperatorPagesDeps): Promise<OperatorPages> {
  const { chains, env, redis, keys, registry, logger } = deps;
  if (!env.PORT) return { close: async () => undefined };
  const settings = readEnvironment(['HOST', 'PORT', 'REDIS_URL', 'OPERATOR_KEY'], env);
  const connection = connectFailFast(settings.REDIS_URL, logger, { commandTimeout: COMMAND_TIMEOUT_MS });
  const queues = new EndpointQueues(connection, keys.prefix, logger);
  const endpoints = chains.flatMap((chain) => chainEndpoints(chain, env));
  registerQueueDepths(registry, { endpoints, redis: connection, queues, keys, logger });
  const app = new Hono();
  mountHealth(app, {
    metrics: registry,
    checks: { redis: async () => (redis.status === 'ready' ? null : 'not connected') },
  });
  const { OPERATOR_KEY: operatorKey } = settings;
  const endpointIds = endpoints.map(({ id }) => id);
  if (operatorKey) mountQueueBoard(app, { endpointIds, queues, redis: connection, operatorKey });
  const server = await startServer(app, settings.HOST, settings.PORT);
  return {
    async close() {
      await server.stop(GRACE_MS);
      await queues.close();
      connection.disconnect();
    },
  };
}
