import type { Redis } from 'ioredis';
import { Gauge, type Registry } from 'prom-client';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { chainEndpoints, type Endpoint } from '../submit/endpoints.ts';
import type { EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import { simulationQueueId } from '../submit/simulation-queue.ts';

export type QueueDepthDeps = {
  readonly chains: readonly ChainConfig[];
  /** Where the builders' keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Must fail at once while Redis is unreachable. */
  readonly redis: Redis;
  readonly queues: EndpointQueues;
  readonly keys: RedisKeys;
  readonly logger: Logger;
};

/** A scrape does not wait longer for a Redis that hangs: it then shows no depths. */
const PATIENCE_MS = 1_000;

/**
 * Gauges of what waits in Redis, read at each scrape: `pamm_queue_depth` by builder and `pamm_simulation_queue_depth` by
 * chain. Every worker shows the same figures: they belong to the queues, not to a process.
 */
export function registerQueueDepths(registry: Registry, deps: QueueDepthDeps): void {
  const { chains, env, queues } = deps;
  const ethereum = chains.filter(({ pamm }) => pamm?.kind === 'ethereum');
  const endpoints = chains.flatMap((chain) => chainEndpoints(chain, env));
  const builders = endpoints.map((endpoint) => [endpoint.id, () => waitingFor(endpoint, deps)] as const);
  const simulations = ethereum.map(
    ({ chainId }) => [String(chainId), () => queues.waiting(simulationQueueId(chainId))] as const,
  );
  const help = { builders: 'Quote updates that wait for a builder', simulations: 'Quote updates to be simulated' };
  registerGauge(registry, deps, { name: 'pamm_queue_depth', help: help.builders, label: 'provider' }, builders);
  const simulationGauge = { name: 'pamm_simulation_queue_depth', help: help.simulations, label: 'chain' } as const;
  registerGauge(registry, deps, simulationGauge, simulations);
}

/** Jobs of a bundle endpoint only say that something changed: its pushes wait beside the queue. */
function waitingFor(endpoint: Endpoint, { queues, redis, keys }: QueueDepthDeps): Promise<number> {
  return endpoint.transport === 'bundle' ? redis.hlen(keys.bundle(endpoint.id).waiting) : queues.waiting(endpoint.id);
}

function registerGauge(
  registry: Registry,
  { redis, logger }: QueueDepthDeps,
  { name, help, label }: { name: string; help: string; label: 'provider' | 'chain' },
  depths: readonly (readonly [labelValue: string, read: () => Promise<number>])[],
): void {
  const gauge: Gauge<'provider' | 'chain'> = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      gauge.reset();
      if (redis.status !== 'ready') return;
      try {
        const read = Promise.all(depths.map(async ([value, depth]) => [value, await depth()] as const));
        for (const [value, depth] of await withTimeout(read, PATIENCE_MS)) gauge.set({ [label]: value }, depth);
      } catch (error) {
        logger.warn({ err: error, metric: name }, 'queue depths are unknown');
      }
    },
  });
}
