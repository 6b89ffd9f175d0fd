import type { Redis } from 'ioredis';
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../runtime/logger.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { Endpoint } from '../submit/endpoints.ts';
import type { EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';

/** A scrape does not wait longer for a Redis that hangs: it then shows no depths. */
const TIMEOUT_MS = 1_000;

/**
 * The gauge `pamm_queue_depth` by builder endpoint, read at each scrape. Every worker shows the same figures: they belong to
 * the queues, not to a process.
 */
export function registerQueueDepths(
  registry: Registry,
  endpoints: readonly Endpoint[],
  queues: EndpointQueues,
  redis: Redis,
  keys: RedisKeys,
  logger: Logger,
): void {
  // Jobs of a bundle endpoint only say that something changed: its pushes wait next to the queue.
  const depthOf = ({ id, transport }: Endpoint) =>
    transport === 'bundle' ? redis.hlen(keys.bundle(id).waiting) : queues.get(id).getWaitingCount();
  const gauge = new Gauge({
    name: 'pamm_queue_depth',
    help: 'Quote updates that wait for a builder',
    labelNames: ['provider'] as const,
    registers: [registry],
    async collect() {
      gauge.reset();
      if (redis.status !== 'ready') return;
      try {
        const depths = await withTimeout(Promise.all(endpoints.map(depthOf)), TIMEOUT_MS);
        for (const [index, { id }] of endpoints.entries()) gauge.set({ provider: id }, depths[index] ?? 0);
      } catch (error) {
        logger.warn({ err: error }, 'queue depths are unknown');
      }
    },
  });
}
