import { PRIORITY_LIMIT, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { encodeBigints } from '../../../runtime/json.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ACKNOWLEDGE_WITHIN_MS, decodeMessage, type Submission } from '../quote-update.ts';

/** A submission in the JSON of `encodeBigints`; its id is also that of the job. */
export type EndpointJob = object;

/** Jobs of an endpoint that one sweep removes. */
const SWEEP_LIMIT = 10_000;
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

  /**
   * Queues a submission, unless it is queued already; resolves once Redis has it.
   *
   * @param place jobs with a lower place are taken first; without one, jobs are taken in the order of arrival
   */
  async add(endpointId: string, submission: Submission, place = 0): Promise<void> {
    const options = { ...JOB_OPTIONS, jobId: submission.id, priority: Math.min(place, PRIORITY_LIMIT) };
    await this.get(endpointId).add('update', JSON.parse(encodeBigints(submission)), options);
  }

  /** Removes a job that must no longer be sent. It need not be awaited: a worker that takes the job drops it. */
  remove(endpointId: string, submissionId: string): void {
    const removing = this.get(endpointId).remove(submissionId);
    removing.catch((error: unknown) => this.#logger.debug({ err: error, endpoint: endpointId }, 'a job stays queued'));
  }

  /**
   * Removes updates that no worker took in time, so that a missing worker does not fill Redis. Gives those that it
   * removed: of several processes, one gets each.
   */
  async *sweep(endpointId: string): AsyncGenerator<Submission> {
    const queue = this.get(endpointId);
    for (const state of ['wait', 'prioritized'] as const) {
      const jobs = await queue.getJobs(state, 0, SWEEP_LIMIT - 1, true);
      const removed = new Set(await queue.clean(ACKNOWLEDGE_WITHIN_MS, SWEEP_LIMIT, state));
      for (const { id = '', data } of jobs) if (removed.has(id) && 'update' in data) yield submissionOfJob(data);
    }
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

/** The submission that a job carries. */
export const submissionOfJob = (job: EndpointJob): Submission => decodeMessage<Submission>(JSON.stringify(job));
