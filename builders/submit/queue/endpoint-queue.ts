import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';

/**
 * A job of a stream endpoint carries the submission, in the JSON of `encodeMessage`; one of a bundle endpoint says that the
 * waiting pushes have changed.
 */
export type EndpointJob = object;

const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true };

/** Endpoint queues, seen from one Redis connection. */
export class EndpointQueues {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #logger: Logger;
  readonly #queues = new Map<string, Queue<EndpointJob>>();

  constructor(redis: Redis, prefix: string, logger: Logger) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#logger = logger;
  }

  /** Queues a job; resolves once Redis has it. */
  async add(endpointId: string, job: EndpointJob): Promise<void> {
    await this.get(endpointId).add('update', job, JOB_OPTIONS);
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.values().map((queue) => queue.close()));
  }

  get(endpointId: string): Queue<EndpointJob> {
    const known = this.#queues.get(endpointId);
    if (known) return known;
    const queue = new Queue<EndpointJob>(endpointId, { connection: this.#redis, prefix: this.#prefix });
    this.#queues.set(endpointId, queue);
    queue.on('error', (error) => this.#logger.debug({ err: error, endpoint: endpointId }, 'queue error'));
    // A queue whose first contact with Redis failed stays unusable: the next use makes a new one.
    queue.waitUntilReady().catch(() => {
      if (this.#queues.get(endpointId) === queue) this.#queues.delete(endpointId);
      return queue.close();
    });
    return queue;
  }
}
