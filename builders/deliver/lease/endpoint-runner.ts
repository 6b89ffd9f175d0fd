import { type Job, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { withTimeout } from '../../../runtime/with-timeout.ts';
import type { EndpointJob } from '../../submit/queue/endpoint-queue.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { Lease, LeaseLostError } from './lease.ts';

export type RunnerTimes = {
  readonly leaseMs: number;
  /** How often a worker without the lease asks for it. */
  readonly pollMs: number;
};

export const DEFAULT_RUNNER_TIMES: RunnerTimes = { leaseMs: 2_000, pollMs: 250 };

/** What one worker does for an endpoint from taking the lease to losing it or giving it up. */
export type Delivery = {
  /** @throws LeaseLostError to leave the job to the next holder */
  process(job: EndpointJob): Promise<void>;
  /** Starts nothing new from here on. */
  finish(): void;
  /** Closes what the delivery holds open; `orderly` allows to wait for answers still due. */
  stop(orderly: boolean): Promise<void>;
};

export type RunnerDeps = {
  readonly endpointId: string;
  /** A connection that retries for ever. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly concurrency: number;
  readonly startDelivery: (lease: Lease) => Delivery;
  readonly logger: Logger;
  readonly times?: RunnerTimes | undefined;
};

/** How long a job of a crashed worker stays out of the queue, about. */
const JOB_LOCK_MS = 1_500;
const RETRY_AFTER_CONNECTION_LOSS_MS = 100;
/** Longest wait for jobs at hand, a little more than a builder may take. */
const END_WITHIN_MS = 4_000;

/** Competes for one endpoint's lease and, while it holds it, works its queue. */
export class EndpointRunner {
  readonly #deps: RunnerDeps;
  readonly #times: RunnerTimes;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #heldBefore = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#times = deps.times ?? DEFAULT_RUNNER_TIMES;
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
      else await pause(this.#times.pollMs, this.#stopping.signal);
    }
  }

  async #acquire(): Promise<Lease | undefined> {
    const { redis, keys, endpointId, logger } = this.#deps;
    if (redis.status !== 'ready') return undefined;
    try {
      const options = { durationMs: this.#times.leaseMs, heldBefore: this.#heldBefore };
      return await withTimeout(Lease.acquire(redis, keys, endpointId, options), this.#times.leaseMs);
    } catch (error) {
      logger.warn({ err: error }, 'cannot ask for the lease');
      return undefined;
    }
  }

  async #serve(lease: Lease): Promise<void> {
    const { logger } = this.#deps;
    this.#heldBefore = true;
    logger.info({ fence: lease.fence }, 'lease taken');
    const delivery = this.#deps.startDelivery(lease);
    const worker = this.#startWorker(lease, delivery);
    await this.#hold(lease);
    const orderly = lease.isHeld() && this.#deps.redis.status === 'ready';
    logger.info({ orderly }, orderly ? 'giving the lease up' : 'lease lost');
    delivery.finish();
    await this.#end('closing the queue', worker.close(!orderly));
    await delivery.stop(orderly);
    if (orderly) await this.#end('releasing the lease', lease.release());
  }

  /** Waits for a step of the end, but not for an unreachable Redis: what is left there expires. */
  async #end(step: string, done: Promise<void>): Promise<void> {
    await withTimeout(done, END_WITHIN_MS).catch((error: unknown) => this.#deps.logger.warn({ err: error }, step));
  }

  /** Renews the lease until it is lost or the runner stops. */
  async #hold(lease: Lease): Promise<void> {
    const { logger } = this.#deps;
    while (!this.#stopping.signal.aborted && lease.isHeld()) {
      await pause(this.#times.leaseMs / 5, this.#stopping.signal);
      if (this.#stopping.signal.aborted || this.#deps.redis.status !== 'ready') continue;
      const renewed = await withTimeout(lease.renew(), this.#times.leaseMs / 2).catch((error: unknown) => {
        logger.warn({ err: error }, 'cannot renew the lease');
        return true;
      });
      if (!renewed) return;
    }
  }

  #startWorker(lease: Lease, delivery: Delivery): Worker<EndpointJob> {
    const { endpointId, redis, keys, concurrency, logger } = this.#deps;
    const worker = new Worker<EndpointJob>(endpointId, (job, token) => this.#process(lease, delivery, job, token), {
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

  /** A job that the lease no longer covers goes back to the queue, for the worker that holds it now. */
  async #process(lease: Lease, delivery: Delivery, job: Job<EndpointJob>, token: string | undefined): Promise<void> {
    try {
      if (!lease.isHeld()) throw new LeaseLostError(this.#deps.endpointId);
      await delivery.process(job.data);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    }
  }
}
