import type { Redis } from 'ioredis';
import { Counter, Gauge, type Registry } from 'prom-client';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { chainCallCounter } from '../../runtime/chain-calls.ts';
import type { Lease } from '../../runtime/lease/lease.ts';
import type { Logger } from '../../runtime/logger.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { chainEndpoints, type Endpoint } from '../submit/endpoints.ts';
import { EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import type { Submission } from '../submit/quote-update.ts';
import { UpdateLog } from '../submit/update-log.ts';
import { BundleDelivery } from './bundle/bundle-delivery.ts';
import { type EndpointContext, startEndpointRunner } from './lease/endpoint-runner.ts';
import { createSimulator } from './simulator.ts';
import { QUOTE_STREAM } from './stream/quote-stream-codec.ts';
import { RELAYER } from './stream/relayer-codec.ts';
import { type DialTimes, rememberSent, StreamDelivery } from './stream/stream-delivery.ts';

/** Updates of one stream that may be in flight to the socket at once. */
const STREAM_CONCURRENCY = 16;
const SIMULATION_TIMEOUT_MS = 3_000;
/** Longest wait of a scrape for a Redis that hangs. After that, the scrape shows no depths. */
const DEPTH_TIMEOUT_MS = 1_000;
/** Milliseconds: how long a lease lasts, and the pauses between two dials of a stream. */
const TIMES = { leaseMs: 2_000, dial: { minPauseMs: 2_000, maxPauseMs: 30_000 } };

export type WorkerDeps = {
  readonly chains: readonly ChainConfig[];
  /** Environment variables, which hold the builders' keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A connection that retries without limit. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  /** Whether live updates of Ethereum chains are simulated. */
  readonly simulate: boolean;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly times?: typeof TIMES;
};

/** Delivers quote updates to every builder endpoint that this process wins the lease of, and simulates them. */
export function startBuildersWorker(deps: WorkerDeps): { stop(): Promise<void> } {
  const { chains, env, redis, keys, metrics, logger, times = TIMES } = deps;
  const queues = new EndpointQueues(redis, keys.prefix, logger);
  const log = new UpdateLog(redis, keys, metrics, logger);
  const simulatorOf = createSimulators(deps);
  const runners = chains.flatMap((chain) => {
    const simulate = simulatorOf(chain);
    return chainEndpoints(chain, env).map((endpoint, index) => {
      const context = { endpoint, redis, keys, log, logger: logger.child({ endpoint: endpoint.id }) };
      // Each update is simulated once for all builders of the chain.
      const onUpdate = (submission: Submission) => index === 0 && simulate?.(submission);
      return endpoint.transport === 'bundle'
        ? startEndpointRunner(context, 1, (lease) => new BundleDelivery({ ...context, lease }), times.leaseMs)
        : startEndpointRunner(context, STREAM_CONCURRENCY, streamStarter(context, onUpdate, times.dial), times.leaseMs);
    });
  });
  const endpoints = chains.flatMap((chain) => chainEndpoints(chain, env));
  registerQueueDepths(endpoints, queues, deps);
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()));
      await queues.close();
    },
  };
}

function createSimulators({ simulate, metrics, logger }: WorkerDeps) {
  const countCall = chainCallCounter(metrics);
  const simulations = new Counter({
    name: 'pamm_simulations_total',
    help: 'Quote updates applied to a simulated head block, by result',
    labelNames: ['chain', 'outcome'],
    registers: [metrics],
  });
  return (chain: ChainConfig) => {
    if (!simulate || chain.pamm?.kind !== 'ethereum') return undefined;
    const rpc = openChainRpc(chain, SIMULATION_TIMEOUT_MS, countCall);
    const count = (outcome: string) => simulations.inc({ chain: String(chain.chainId), outcome });
    return createSimulator(rpc, count, logger.child({ chain: chain.chainId }));
  };
}

/** Makes what starts a delivery whenever the lease is taken. The memory of what was sent outlives leases. */
function streamStarter(context: EndpointContext, onUpdate: (submission: Submission) => void, dialTimes: DialTimes) {
  const sent = rememberSent();
  const codec = context.endpoint.transport === 'relayer' ? RELAYER : QUOTE_STREAM;
  return (lease: Lease) => new StreamDelivery({ ...context, lease, codec, sent, onUpdate, dialTimes });
}

/**
 * Exports queue depths, read at each scrape. Every worker shows the same: they belong to the queues, not to a process.
 */
function registerQueueDepths(
  endpoints: readonly Endpoint[],
  queues: EndpointQueues,
  { metrics, redis, logger }: WorkerDeps,
): void {
  const gauge = new Gauge({
    name: 'pamm_queue_depth',
    help: 'Quote updates that wait for a builder',
    labelNames: ['provider'],
    registers: [metrics],
    async collect() {
      gauge.reset();
      if (redis.status !== 'ready') return;
      try {
        const depths = await withTimeout(
          Promise.all(endpoints.map(({ id }) => queues.get(id).count())),
          DEPTH_TIMEOUT_MS,
        );
        for (const [index, { id }] of endpoints.entries()) gauge.set({ provider: id }, depths[index] ?? 0);
      } catch (error) {
        logger.warn({ err: error }, 'queue depths are unknown');
      }
    },
  });
}
