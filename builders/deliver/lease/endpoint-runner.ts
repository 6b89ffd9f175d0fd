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
  /** A connection that retries for ever. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly log: UpdateLog;
  readonly logger: Logger;
};

/** What one worker does for an endpoint from taking the lease to losing it or giving it up. */
export type Delivery = {
  /** @throws LeaseLostError to leave the job to the next holder */
  process(submission: Submission): Promise<void>;
  /** Closes what the delivery holds open, once no job is at hand; `orderly` allows to wait for answers still due. */
  stop?(orderly: boolean): Promise<void>;
};

/** Part of a lease's duration after which a worker without it asks for it. */
const POLL_SHARE = 1 / 8;
/** How long a job of a crashed worker stays out of the queue, about. */
const JOB_LOCK_MS = 1_500;
const RETRY_AFTER_CONNECTION_LOSS_MS = 100;
/** How long a job that this worker may not do stays out of the queue: as it closes, it would take it again and again. */
const HAND_BACK_MS = 20;
/** Longest wait for jobs at hand, a little more than a builder may take. */
const END_WITHIN_MS = 4_000;

/**
 * Competes for one endpoint's lease and, while it holds it, works its queue.
 *
 * @param concurrency most jobs at a time
 * @returns `stop` finishes the jobs at hand and gives the lease up
 */
export function startEndpointRunner(
  context: EndpointContext,
  concurrency: number,
  startDelivery: (lease: Lease) => Delivery,
  leaseMs: number,
): { stop(): Promise<void> } {
  const { endpoint, redis, keys, logger } = context;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    let heldBefore = false;
    while (!signal.aborted) {
      const lease: Lease | undefined = redis.status === 'ready' ? await acquire(heldBefore) : undefined;
      heldBefore ||= lease !== undefined;
      if (lease) await serve(lease);
      else await pause(leaseMs * POLL_SHARE, signal);
    }
  }

  function acquire(heldBefore: boolean): Promise<Lease | undefined> {
    const lease = acquireLease(redis, keys.leaseKeys(endpoint.id), leaseMs, heldBefore);
    return withTimeout(lease, leaseMs).catch((error: unknown) => {
      logger.warn({ err: error }, 'cannot ask for the lease');
      return undefined;
    });
  }

  async function serve(lease: Lease): Promise<void> {
    logger.info({ fence: lease.fence }, 'lease taken');
    const delivery = startDelivery(lease);
    const worker = startWorker(context, concurrency, lease, delivery);
    await hold(lease);
    const orderly = lease.isHeld() && redis.status === 'ready';
    logger.info({ orderly }, orderly ? 'giving the lease up' : 'lease lost');
    lease.finish();
    await end('closing the queue', worker.close(!orderly));
    await delivery.stop?.(orderly);
    if (orderly) await end('releasing the lease', lease.release());
  }

  /** Waits for a step of the end, but not for an unreachable Redis: what is left there expires. */
  async function end(step: string, done: Promise<void>): Promise<void> {
    await withTimeout(done, END_WITHIN_MS).catch((error: unknown) => logger.warn({ err: error }, step));
  }

  /** Renews the lease until it is lost or the runner stops. */
  async function hold(lease: Lease): Promise<void> {
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

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Works a queue. A job that the lease no longer covers goes back to it, for the worker that holds it now. */
function startWorker(
  { endpoint, redis, keys, logger }: EndpointContext,
  concurrency: number,
  lease: Lease,
  delivery: Delivery,
): Worker<EndpointJob> {
  const work = async (job: Job<EndpointJob>, token?: string): Promise<void> => {
    try {
      if (!lease.isHeld()) throw new LeaseLostError(endpoint.id);
      await delivery.process(submissionOfJob(job.data));
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      // Not `moveToWait`: with a priority it wakes no other worker.
      await job.moveToDelayed(Date.now() + HAND_BACK_MS, token);
      throw new DelayedError();
    }
  };
  const worker = new Worker<EndpointJob>(endpoint.id, work, {
    connection: redis,
    prefix: keys.prefix,
    concurrency,
    lockDuration: JOB_LOCK_MS,
    stalledInterval: JOB_LOCK_MS,
    maxStalledCount: 3,
    runRetryDelay: RETRY_AFTER_CONNECTION_LOSS_MS,
  });
  worker.on('error', (error) => logger.warn({ err: error }, 'queue error'));
  worker.on('failed', (job, error) => logger.error({ err: error, job: job?.id }, 'an update failed'));
  return worker;
}
