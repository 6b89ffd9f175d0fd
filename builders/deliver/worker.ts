import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import { BundleState } from '../submit/bundle/bundle-state.ts';
import { chainEndpoints, type Endpoint } from '../submit/endpoints.ts';
import { decodeMessage } from '../submit/message.ts';
import type { BuildersMetrics } from '../submit/metrics.ts';
import { type EndpointJob, EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import type { Hex, Submission } from '../submit/quote-update.ts';
import { StreamOrder } from '../submit/stream/stream-order.ts';
import { UpdateLog } from '../submit/update-log.ts';
import { BundleDelivery } from './bundle/bundle-delivery.ts';
import { type Delivery, EndpointRunner, type RunnerTimes } from './lease/endpoint-runner.ts';
import type { Lease } from './lease/lease.ts';
import { Simulator } from './simulation/simulator.ts';
import { DEFAULT_DIAL_TIMES, type DialTimes, StreamDelivery } from './stream/stream-delivery.ts';

/** Updates of one stream that may be on their way to the socket at once. */
const STREAM_CONCURRENCY = 16;
/** How long a stopping worker waits for acknowledgements. */
const LAST_ANSWERS_MS = 500;
const SIMULATION_TIMEOUT_MS = 3_000;
/** Of an endpoint, whose newest sequence number is remembered. */
const MAX_SENT_UUIDS = 50_000;

export type WorkerDeps = {
  readonly chains: readonly ChainConfig[];
  /** Where the builders' keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A connection that retries for ever. */
  readonly redis: Redis;
  /** Another one, for answers and audit entries, which nothing waits for. */
  readonly background: Redis;
  readonly keys: RedisKeys;
  /** Whether live updates of Ethereum chains are simulated. */
  readonly simulate: boolean;
  readonly metrics: BuildersMetrics;
  readonly countCall?: CountChainCall;
  readonly logger: Logger;
  readonly times?: { readonly runner?: RunnerTimes; readonly dial?: DialTimes };
};

export type BuildersWorker = { stop(): Promise<void> };

type Parts = WorkerDeps & { readonly queues: EndpointQueues; readonly log: UpdateLog };

/** Delivers quote updates to every builder endpoint that this process wins the lease of, and simulates them. */
export function startBuildersWorker(deps: WorkerDeps): BuildersWorker {
  const queues = new EndpointQueues(deps.redis, deps.keys.prefix, deps.logger);
  const log = new UpdateLog(deps.background, deps.keys, deps.metrics, deps.logger);
  const runners = deps.chains.flatMap((chain) => {
    const simulator = createSimulator(chain, deps);
    return chainEndpoints(chain, deps.env).map((endpoint, index) => {
      const parts = { ...deps, queues, log, logger: deps.logger.child({ endpoint: endpoint.id }) };
      // Once for all builders of the chain.
      return startRunner(endpoint, parts, index === 0 ? simulator : undefined);
    });
  });
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()));
      await queues.close();
    },
  };
}

function createSimulator(chain: ChainConfig, deps: WorkerDeps): Simulator | undefined {
  if (!deps.simulate || chain.pamm?.kind !== 'ethereum') return undefined;
  const rpc = openChainRpc(chain, SIMULATION_TIMEOUT_MS, deps.countCall);
  return new Simulator(rpc, deps.metrics, deps.logger.child({ chain: chain.chainId }));
}

function startRunner(endpoint: Endpoint, parts: Parts, simulator: Simulator | undefined): EndpointRunner {
  const isBundle = endpoint.transport === 'bundle';
  const sent = new LRUCache<Hex, bigint>({ max: MAX_SENT_UUIDS });
  return new EndpointRunner({
    endpointId: endpoint.id,
    redis: parts.redis,
    keys: parts.keys,
    concurrency: isBundle ? 1 : STREAM_CONCURRENCY,
    startDelivery: (lease) =>
      isBundle
        ? startBundleDelivery(endpoint, lease, parts)
        : startStreamDelivery(endpoint, lease, sent, parts, simulator),
    logger: parts.logger,
    times: parts.times?.runner,
  });
}

function startStreamDelivery(
  endpoint: Endpoint,
  lease: Lease,
  sent: LRUCache<Hex, bigint>,
  { redis, keys, log, logger, times }: Parts,
  simulator: Simulator | undefined,
): Delivery {
  const order = new StreamOrder(redis, keys);
  const dialTimes = times?.dial ?? DEFAULT_DIAL_TIMES;
  const delivery = new StreamDelivery({ endpoint, order, sent, lease, log, logger, dialTimes });
  return {
    process(job: EndpointJob) {
      const submission = decodeMessage<Submission>(JSON.stringify(job));
      void simulator?.run(submission);
      return delivery.deliver(submission);
    },
    finish: () => delivery.finish(),
    stop: (orderly) => delivery.stop(orderly ? LAST_ANSWERS_MS : 0),
  };
}

function startBundleDelivery(endpoint: Endpoint, lease: Lease, { redis, keys, queues, log, logger }: Parts): Delivery {
  const state = new BundleState(redis, keys, endpoint.id);
  const delivery = new BundleDelivery({ endpoint, state, lease, log, logger });
  // Pushes may wait whose jobs an earlier holder has already taken.
  queues
    .add(endpoint.id, {})
    .catch((error: unknown) => logger.warn({ err: error }, 'waiting pushes are sent with the next one'));
  return {
    process: () => delivery.drain(),
    finish: () => delivery.finish(),
    stop: async () => delivery.finish(),
  };
}
