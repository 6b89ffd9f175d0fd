import type { Redis } from 'ioredis';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Logger } from '../../runtime/logger.ts';
import { AnswerLog } from '../submit/answers/answer-log.ts';
import { AuditLog } from '../submit/audit-log.ts';
import { BundleState } from '../submit/bundle/bundle-state.ts';
import { chainEndpoints, type Endpoint } from '../submit/endpoints.ts';
import { startHeartbeat } from '../submit/heartbeat.ts';
import type { BuildersMetrics } from '../submit/metrics.ts';
import { type EndpointJob, EndpointQueues } from '../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import { decodeSubmission, type SubmissionMessage } from '../submit/quote-update.ts';
import { StreamOrder } from '../submit/stream/stream-order.ts';
import { BundleDelivery } from './bundle/bundle-delivery.ts';
import { type Delivery, EndpointRunner, type RunnerTimes } from './lease/endpoint-runner.ts';
import type { Lease } from './lease/lease.ts';
import { startSimulationWorker } from './simulation/simulation-worker.ts';
import { Simulator } from './simulation/simulator.ts';
import { SentLog } from './stream/sent-log.ts';
import { type ConnectionTimes, StreamConnection } from './stream/stream-connection.ts';
import { StreamDelivery } from './stream/stream-delivery.ts';

/** Updates of one stream that may be on their way to the socket at once. */
const STREAM_CONCURRENCY = 16;
/** How long a stopping worker waits for acknowledgements. */
const LAST_ANSWERS_MS = 500;
const SIMULATION_TIMEOUT_MS = 3_000;

export type WorkerDeps = {
  readonly chains: readonly ChainConfig[];
  /** Where the builders' keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A connection that retries for ever. */
  readonly redis: Redis;
  /** Another one, for answers and audit entries, which nothing waits for. */
  readonly background: Redis;
  readonly keys: RedisKeys;
  readonly simulate: boolean;
  readonly metrics: BuildersMetrics;
  readonly countCall?: CountChainCall;
  readonly logger: Logger;
  readonly times?: { readonly runner?: RunnerTimes; readonly connection?: ConnectionTimes };
};

export type BuildersWorker = { stop(): Promise<void> };

/** Delivers quote updates to every builder endpoint that this process wins the lease of, and simulates them. */
export function startBuildersWorker(deps: WorkerDeps): BuildersWorker {
  const queues = new EndpointQueues(deps.redis, deps.keys.prefix, deps.logger);
  const audit = new AuditLog(deps.background, deps.keys, deps.logger);
  const answers = new AnswerLog(deps.background, audit, deps.metrics, deps.logger);
  const runners = deps.chains
    .flatMap((chain) => chainEndpoints(chain, deps.env))
    .map((endpoint) => startRunner(endpoint, { ...deps, queues, answers }));
  const simulations = deps.simulate
    ? deps.chains.filter(({ pamm }) => pamm?.kind === 'ethereum').map((chain) => startSimulation(chain, deps))
    : [];
  // A worker without a usable builder takes no updates.
  const stopHeartbeat = runners.length > 0 ? startHeartbeat(deps.background, deps.keys, deps.logger) : undefined;
  return {
    async stop() {
      stopHeartbeat?.();
      const unreachable = deps.redis.status !== 'ready';
      await Promise.all([
        ...runners.map((runner) => runner.stop()),
        ...simulations.map((worker) => worker.close(unreachable)),
      ]);
      await queues.close();
    },
  };
}

type RunnerParts = WorkerDeps & { readonly queues: EndpointQueues; readonly answers: AnswerLog };

function startRunner(endpoint: Endpoint, parts: RunnerParts): EndpointRunner {
  const logger = parts.logger.child({ endpoint: endpoint.id });
  const sent = new SentLog();
  return new EndpointRunner({
    endpointId: endpoint.id,
    redis: parts.redis,
    keys: parts.keys,
    concurrency: endpoint.transport === 'bundle' ? 1 : STREAM_CONCURRENCY,
    startDelivery: (lease) =>
      endpoint.transport === 'bundle'
        ? startBundleDelivery(endpoint, lease, { ...parts, logger })
        : startStreamDelivery(endpoint, lease, sent, { ...parts, logger }),
    logger,
    ...(parts.times?.runner ? { times: parts.times.runner } : {}),
  });
}

function startStreamDelivery(endpoint: Endpoint, lease: Lease, sent: SentLog, parts: RunnerParts): Delivery {
  const { logger, answers } = parts;
  const connection = new StreamConnection(endpoint, logger, parts.times?.connection);
  const order = new StreamOrder(parts.redis, parts.keys);
  const delivery = new StreamDelivery({ endpoint, connection, order, sent, lease, answers, logger });
  return {
    process: (job: EndpointJob) => delivery.deliver(decodeSubmission(job as SubmissionMessage)),
    finish: () => delivery.finish(),
    async stop(orderly) {
      await delivery.stop(orderly ? LAST_ANSWERS_MS : 0);
      connection.close();
    },
  };
}

function startBundleDelivery(endpoint: Endpoint, lease: Lease, parts: RunnerParts): Delivery {
  const { logger, answers } = parts;
  const state = new BundleState(parts.redis, parts.keys, endpoint.id);
  const delivery = new BundleDelivery({ endpoint, state, lease, answers, logger });
  // Pushes may wait whose jobs an earlier holder has already taken.
  parts.queues
    .add(endpoint.id, {})
    .catch((error: unknown) => logger.warn({ err: error }, 'waiting pushes are sent with the next one'));
  return {
    process: () => delivery.drain(),
    finish: () => delivery.finish(),
    stop: async () => {
      delivery.finish();
    },
  };
}

function startSimulation(chain: ChainConfig, { redis, keys, metrics, countCall, logger }: WorkerDeps) {
  const simulator = new Simulator(openChainRpc(chain, SIMULATION_TIMEOUT_MS, countCall));
  return startSimulationWorker({
    chainId: chain.chainId,
    redis,
    keys,
    simulator,
    metrics,
    logger: logger.child({ chain: chain.chainId }),
  });
}
