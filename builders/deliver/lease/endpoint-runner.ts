import { type Job, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { withTimeout } from '../../../runtime/with-timeout.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import type { EndpointJob } from '../../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { UpdateLog } from '../../submit/update-log.ts';
import { Lease, LeaseLostError } from './lease.ts';

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
  process(job: EndpointJob): Promise<void>;
  /** Closes what the delivery holds open, once no job is at hand; `orderly` allows to wait for answers still due. */
  stop?(orderly: boolean): Promise<void>;
};

export const LEASE_MS = 2_000;
/** Part of a lease's duration after which a worker without it asks for it. */
const POLL_SHARE = 1 / 8;
/** How long a job of a crashed worker stays out of the queue, about. */
const JOB_LOCK_MS = 1_500;
const RETRY_AFTER_CONNECTION_LOSS_MS = 100;
/** Longest wait for jobs at hand, a little more than a builder may take. */
const END_WITHIN_MS = 4_000;

/** Competes for one endpoint's lease and, while it holds it, works its queue. */
export class EndpointRunner {
  readonly #context: EndpointContext;
  readonly #concurrency: number;
  readonly #startDelivery: (lease: Lease) => Delivery;
  readonly #leaseMs: number;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #heldBefore = false;

  /** @param concurrency most jobs at a time */
  constructor(
    context: EndpointContext,
    concurrency: number,
    startDelivery: (lease: Lease) => Delivery,
    leaseMs = LEASE_MS,
  ) {
    this.#context = context;
    this.#concurrency = concurrency;
    this.#startDelivery = startDelivery;
    this.#leaseMs = leaseMs;
    this.#running = this.#run();
  }

  /** Finishes the jobs at hand, gives the lease up and stops. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const lease = await this.#acquire();
      if (lease) await this.#serve(lease);
      else await pause(this.#leaseMs * POLL_SHARE, this.#stopping.signal);
    }
  }

  async #acquire(): Promise<Lease | undefined> {
    const { redis, keys, endpoint, logger } = this.#context;
    if (redis.status !== 'ready') return undefined;
    try {
      const options = { durationMs: this.#leaseMs, heldBefore: this.#heldBefore };
      return await withTimeout(Lease.acquire(redis, keys, endpoint.id, options), this.#leaseMs);
    } catch (error) {
      logger.warn({ err: error }, 'cannot ask for the lease');
      return undefined;
    }
  }

  async #serve(lease: Lease): Promise<void> {
    const { redis, logger } = this.#context;
    this.#heldBefore = true;
    logger.info({ fence: lease.fence }, 'lease taken');
    const delivery = this.#startDelivery(lease);
    const worker = this.#startWorker(lease, delivery);
    await this.#hold(lease);
    const orderly = lease.isHeld() && redis.status === 'ready';
    logger.info({ orderly }, orderly ? 'giving the lease up' : 'lease lost');
    lease.finish();
    await this.#end('closing the queue', worker.close(!orderly));
    await delivery.stop?.(orderly);
    if (orderly) await this.#end('releasing the lease', lease.release());
  }

  /** Waits for a step of the end, but not for an unreachable Redis: what is left there expires. */
  async #end(step: string, done: Promise<void>): Promise<void> {
    await withTimeout(done, END_WITHIN_MS).catch((error: unknown) => this.#context.logger.warn({ err: error }, step));
  }

  /** Renews the lease until it is lost or the runner stops. */
  async #hold(lease: Lease): Promise<void> {
    const { redis, logger } = this.#context;
    while (!this.#stopping.signal.aborted && lease.isHeld()) {
      await pause(this.#leaseMs / 5, this.#stopping.signal);
      if (this.#stopping.signal.aborted || redis.status !== 'ready') continue;
      const renewed = await withTimeout(lease.renew(), this.#leaseMs / 2).catch((error: unknown) => {
        logger.warn({ err: error }, 'cannot renew the lease');
        return true;
      });
      if (!renewed) return;
    }
  }

  #startWorker(lease: Lease, delivery: Delivery): Worker<EndpointJob> {
    const { endpoint, redis, keys, logger } = this.#context;
    const worker = new Worker<EndpointJob>(endpoint.id, (job, token) => this.#process(lease, delivery, job, token), {
      connection: redis,
      prefix: keys.prefix,
      concurrency: this.#concurrency,
      lockDuration: JOB_LOCK_MS,
      stalledInterval: JOB_LOCK_MS,
      maxStalledCount: 3,
      runRetryDelay: RETRY_AFTER_CONNECTION_LOSS_MS,
    });
    worker.on('error', (error) => logger.warn({ err: error }, 'queue error'));
    worker.on('failed', (job, error) => logger.error({ err: error, job: job?.id }, 'an update failed'));
    return worker;
  }

  /** A job that the lease no longer covers goes back to the queue, for the worker that holds it now. */
  async #process(lease: Lease, delivery: Delivery, job: Job<EndpointJob>, token: string | undefined): Promise<void> {
    try {
      if (!lease.isHeld()) throw new LeaseLostError(this.#context.endpoint.id);
      await delivery.process(job.data);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    }
  }
}
