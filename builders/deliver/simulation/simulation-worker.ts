import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import type { BuildersMetrics } from '../../submit/metrics.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { deadlineMs, decodeSubmission, type SubmissionMessage } from '../../submit/quote-update.ts';
import { simulationQueueId } from '../../submit/simulation-queue.ts';
import type { Simulator } from './simulator.ts';

const CONCURRENCY = 2;

export type SimulationWorkerDeps = {
  readonly chainId: number;
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly simulator: Simulator;
  readonly metrics: BuildersMetrics;
  readonly logger: Logger;
};

/**
 * Simulates the updates of a chain in the background; results are logged and counted, and delay nothing. An update
 * whose time at the builders is over is not simulated any more.
 */
export function startSimulationWorker(deps: SimulationWorkerDeps): Worker<SubmissionMessage> {
  const { chainId, redis, keys, logger } = deps;
  const worker = new Worker<SubmissionMessage>(simulationQueueId(chainId), (job) => simulate(deps, job), {
    connection: redis,
    prefix: keys.prefix,
    concurrency: CONCURRENCY,
    runRetryDelay: 500,
  });
  worker.on('error', (error) => logger.warn({ err: error }, 'queue error'));
  deps.simulator
    .probe()
    .then((method) => logger.info({ method }, 'updates are simulated'))
    .catch((error: unknown) => logger.warn({ err: error }, 'the node cannot be asked to simulate yet'));
  return worker;
}

async function simulate({ chainId, simulator, metrics, logger }: SimulationWorkerDeps, job: Job<SubmissionMessage>) {
  const submission = decodeSubmission(job.data);
  const inTime = Date.now() < deadlineMs(submission);
  const result = inTime ? await simulator.simulate(submission.update.tx) : { outcome: 'late' as const };
  metrics.simulations.inc({ chain: String(chainId), outcome: result.outcome });
  logger.info({ submission: submission.id, ...result }, 'update simulated');
}
