import { DelayedError, type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { acquireLease, type Lease } from '../../../runtime/lease/lease.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { withTimeout } from '../../../runtime/with-timeout.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { type EndpointJob, submissionOfJob } from '../../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { Submission } from '../../submit/quote-update.ts';
import type { UpdateLog } from '../../submit/update-log.ts';
import { LeaseLostError } from './lease-lost-error.ts';

/** What the parts of a worker that serve one endpoint share. */
export type EndpointContext = {
  readonly endpoint: Endpoint;
  /** A connection that retries without limit. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly log: UpdateLog;
  readonly logger: Logger;
};

/** What one worker does for an endpoint while it holds the lease. */
export type Delivery = {
  /** @throws LeaseLostError to leave the job to the next holder */
  process(submission: Submission): Promise<void>;
  /** Ends jobs that wait with a LeaseLostError, since the lease is over. */
  giveBack?(): void;
  /** Closes what the delivery holds open, once no job is running. If `orderly`, it may wait for answers still due. */
  stop?(orderly: boolean): Promise<void>;
};

/** A worker without the lease tries to take it at intervals of this part of the lease's duration. */
const POLL_SHARE = 1 / 8;
/** For about this part of the lease's duration a job of a crashed worker stays out of the queue. */
const JOB_LOCK_SHARE = 3 / 4;
const RETRY_AFTER_CONNECTION_LOSS_MS = 100;
/** How long a job that was handed back stays out of the queue: a worker that closes would take it again and again. */
const HAND_BACK_MS = 20;
/** Longest wait for running jobs, a little more than a builder may take. */
const END_WITHIN_MS = 4_000;

/** What a runner works with. */
interface Runner extends EndpointContext {
  /** Most jobs at a time. */
  readonly concurrency: number;
  readonly startDelivery: (lease: Lease) => Delivery;
  readonly leaseMs: number;
  /** Aborted when the runner stops. */
  readonly signal: AbortSignal;
}

/**
 * Competes for one endpoint's lease and works the endpoint's queue while it holds the lease.
 *
 * @param concurrency most jobs at a time
 * @returns `stop` finishes the running jobs and gives the lease up
 */
export function startEndpointRunner(
  context: EndpointContext,
  concurrency: number,
  startDelivery: (lease: Lease) => Delivery,
  leaseMs: number,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = run({ ...context, concurrency, startDelivery, leaseMs, signal: stopping.signal });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function run(runner: Runner): Promise<void> {
  const { redis, signal, leaseMs } = runner;
  let heldBefore = false;
  while (!signal.aborted) {
    const lease: Lease | undefined = redis.status === 'ready' ? await acquire(runner, heldBefore) : undefined;
    heldBefore ||= lease !== undefined;
    if (lease) await serve(runner, lease);
    else await pause(leaseMs * POLL_SHARE, signal);
  }
}

function acquire({ endpoint, redis, keys, leaseMs, logger }: Runner, comesFirst: boolean): Promise<Lease | undefined> {
  const request = { redis, keys: keys.leaseKeys(endpoint.id), durationMs: leaseMs, comesFirst };
  return withTimeout(acquireLease(request), leaseMs).catch((error: unknown) => {
    logger.warn({ err: error }, 'cannot ask for the lease');
    return undefined;
  });
}

async function serve(runner: Runner, lease: Lease): Promise<void> {
  const { redis, logger, startDelivery } = runner;
  /** Waits for a step of the end, but only for some seconds: what stays in an unreachable Redis expires. */
  const end = (step: string, done: Promise<void>) =>
    withTimeout(done, END_WITHIN_MS).catch((error: unknown) => logger.warn({ err: error }, step));
  logger.info({ fence: lease.fence }, 'lease taken');
  const delivery = startDelivery(lease);
  const worker = startWorker(runner, lease, delivery);
  await hold(runner, lease);
  const orderly = lease.isHeld() && redis.status === 'ready';
  logger.info({ orderly }, orderly ? 'giving the lease up' : 'lease lost');
  lease.finish();
  delivery.giveBack?.();
  await end('closing the queue', worker.close(!orderly));
  await delivery.stop?.(orderly);
  if (orderly) await end('releasing the lease', lease.release());
}

/** Renews the lease until it is lost or the runner stops. */
async function hold({ redis, logger, leaseMs, signal }: Runner, lease: Lease): Promise<void> {
  while (!signal.aborted && lease.isHeld()) {
    await pause(leaseMs / 5, signal);
    if (signal.aborted || redis.status !== 'ready') continue;
    const renewed = await withTimeout(lease.renew(), leaseMs / 2).catch((error: unknown) => {
      logger.warn({ err: error }, 'cannot renew the lease');
      return true;
    });
    if (!renewed) return;
  }
}

/**
 * Works a queue. A job that the lease no longer covers goes back to the queue, for the worker that holds the lease now.
 */
function startWorker(
  { endpoint, redis, keys, logger, concurrency, leaseMs }: Runner,
  lease: Lease,
  delivery: Delivery,
): Worker<EndpointJob> {
  const work = async (job: Job<EndpointJob>, token?: string): Promise<void> => {
    try {
      if (!lease.isHeld()) throw new LeaseLostError(endpoint.id);
      await delivery.process(submissionOfJob(job.data));
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      // `moveToWait` would not do: it wakes no other worker for a job with a priority.
      await job.moveToDelayed(Date.now() + HAND_BACK_MS, token);
      throw new DelayedError();
    }
  };
  const lockMs = leaseMs * JOB_LOCK_SHARE;
  const worker = new Worker<EndpointJob>(endpoint.id, work, {
    connection: redis,
    prefix: keys.prefix,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    maxStalledCount: 3,
    runRetryDelay: RETRY_AFTER_CONNECTION_LOSS_MS,
  });
  worker.on('error', (error) => logger.warn({ err: error }, 'queue error'));
  worker.on('failed', (job, error) => logger.error({ err: error, job: job?.id }, 'an update failed'));
  return worker;
}
