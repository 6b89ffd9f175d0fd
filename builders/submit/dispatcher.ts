import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { AppError } from '../../config/app-error.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type Answer, type AnswerNotice, skipped } from './answer.ts';
import { BundleState } from './bundle/bundle-state.ts';
import type { Endpoint } from './endpoints.ts';
import { EndpointQueues } from './queue/endpoint-queue.ts';
import type { RedisKeys } from './queue/redis-keys.ts';
import { decodeMessage, isCancel, type Origin, type QuoteUpdate, type Submission } from './quote-update.ts';
import { type Registration, registerUpdate } from './stream/stream-order.ts';
import { UpdateLog } from './update-log.ts';

/** The answer of one builder by the deadline; undefined while it is pending. */
export type ProviderResult = { readonly provider: string; readonly answer: Answer | undefined };

/** The queues are unreachable. As far as is known, nothing was sent. */
export class QueuesUnavailableError extends AppError {
  readonly code = 'QUEUES_UNAVAILABLE';
  readonly retryable = true;
}

export type DispatcherDeps = {
  /** Must fail at once while Redis is unreachable: no offline queue, no resending. */
  readonly redis: Redis;
  /** A dedicated connection for the answers, which queues commands. */
  readonly subscriber: Redis;
  readonly keys: RedisKeys;
  readonly metrics: Registry;
  readonly logger: Logger;
};

/** Times are Unix milliseconds. */
interface SubmitOptions {
  /** Whose key the update came with; a holder cannot update uuids that another one used first. */
  readonly holder: string;
  readonly arrivedAtMs: number;
  /** When to return at the latest; a time in the past means as soon as everything is queued. */
  readonly waitUntilMs: number;
  /** When to give up queueing. */
  readonly queueUntilMs: number;
  /**
   * Called once it is queued for a builder, even if late, as the newest of its uuid, which is the holder's; also for
   * each cancel. Must not throw.
   */
  readonly onAccepted?: (() => void) | undefined;
}

/**
 * How often the subscription is renewed. Without that, a connection to a dead machine looks like one without answers.
 */
const SUBSCRIBE_EVERY_MS = 5_000;

/** Queues updates for every builder endpoint of a chain and collects their answers until a deadline. */
export class QuoteDispatcher {
  readonly #deps: DispatcherDeps;
  /** Channel of the answers to this process. */
  readonly #replyTo: string;
  /** Takes the answers to each submission, by its id. */
  readonly #waiting = new Map<string, (endpointId: string, answer: Answer) => void>();
  readonly #stopSubscribing: () => void;
  readonly #queues: EndpointQueues;
  readonly #log: UpdateLog;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const { redis, subscriber, keys, metrics, logger } = deps;
    this.#replyTo = keys.answers(randomUUID());
    this.#queues = new EndpointQueues(redis, keys.prefix, logger);
    this.#log = new UpdateLog(redis, keys, metrics, logger);
    subscriber.on('message', (_channel: string, text: string) => this.#takeAnswer(text));
    this.#stopSubscribing = startRepeating(async () => {
      const subscribing = subscriber.subscribe(this.#replyTo);
      await subscribing.catch((error: unknown) => logger.warn({ err: error }, 'cannot hear answers of builders'));
    }, SUBSCRIBE_EVERY_MS);
  }

  /**
   * Submits an update.
   *
   * @returns one result per endpoint, in their order
   * @throws QueuesUnavailableError when the update could be queued nowhere by then
   */
  async submit(
    update: QuoteUpdate,
    endpoints: readonly Endpoint[],
    { holder, arrivedAtMs, waitUntilMs, queueUntilMs, onAccepted }: SubmitOptions,
  ): Promise<ProviderResult[]> {
    if (this.#deps.redis.status !== 'ready') throw new QueuesUnavailableError('Redis is not connected');
    const submission: Submission = { id: randomUUID(), replyTo: this.#replyTo, arrivedAtMs, update };
    const answers = new Map<string, Answer>();
    // This comes before the update can reach any builder.
    const completed = new Promise<void>((complete) => {
      this.#waiting.set(submission.id, (endpointId, answer) => {
        answers.set(endpointId, answer);
        if (answers.size === endpoints.length) complete();
      });
    });
    try {
      await this.#enqueueAll(submission, endpoints, { holder, queueUntilMs, onAccepted });
      await before(waitUntilMs, completed);
      return endpoints.map(({ id, provider }) => ({ provider, answer: answers.get(id) }));
    } finally {
      this.#waiting.delete(submission.id);
    }
  }

  /**
   * Drops updates that no worker took in time, so that they do not fill Redis. To be called every few seconds.
   */
  async sweep(endpoints: readonly Endpoint[]): Promise<void> {
    await Promise.all(
      endpoints.map(async (endpoint) => {
        for await (const submission of this.#queues.sweep(endpoint.id)) this.#log.note(endpoint, submission, 'dropped');
      }),
    );
  }

  /** Ends the dispatcher's own work. Its connections are closed by their owner. */
  async close(): Promise<void> {
    this.#stopSubscribing();
    await this.#queues.close();
  }

  #takeAnswer(text: string): void {
    try {
      const { submissionId, endpointId, answer } = decodeMessage<AnswerNotice>(text);
      this.#waiting.get(submissionId)?.(endpointId, answer);
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'a message on the channel of answers is not an answer');
    }
  }

  async #enqueueAll(
    submission: Submission,
    endpoints: readonly Endpoint[],
    { holder, queueUntilMs, onAccepted }: Pick<SubmitOptions, 'holder' | 'queueUntilMs' | 'onAccepted'>,
  ): Promise<void> {
    let queued = 0;
    let failure: unknown;
    let accept: (() => void) | undefined = () => {
      this.#log.submitted(submission, onAccepted !== undefined);
      onAccepted?.();
    };
    // Registered once for all builders, so that two holders at the same time do not each get some of them.
    const registering = registerUpdate(this.#deps.redis, this.#deps.keys, submission.update, holder);
    const attempts = endpoints.map(async (endpoint) => {
      try {
        const registration = await registering;
        const answer = await this.#enqueue(endpoint, submission, registration);
        queued += 1;
        const isNewest = registration === 'newest' || registration === 'same';
        // Also where Redis hung, and the client has heard that it is unreachable: builders get the update.
        if (isNewest && (isCancel(submission.update) || mayLand(answer))) {
          accept?.();
          accept = undefined;
        }
        if (!answer) return;
        this.#waiting.get(submission.id)?.(endpoint.id, answer);
        this.#log.note(endpoint, submission, answer);
      } catch (error) {
        failure = error;
        this.#deps.logger.warn({ err: error, endpoint: endpoint.id }, 'an update could not be queued');
      }
    });
    const ended = Promise.all(attempts).then(() => {
      // An update that no builder gets is not published: it could not land.
      if (accept && queued > 0) this.#log.submitted(submission, false);
    });
    await before(queueUntilMs, ended);
    // If some were queued, the others stay pending: it is unknown whether Redis took them.
    if (queued === 0) throw new QueuesUnavailableError('no update was queued', { cause: failure });
  }

  /** Queues an update for one endpoint. Returns an answer when one is known without the builder. */
  async #enqueue(endpoint: Endpoint, submission: Submission, registration: Registration): Promise<Answer | undefined> {
    if (registration === 'foreign') return skipped.foreign;
    if (endpoint.transport === 'bundle') return this.#enqueueBundle(endpoint, submission);
    if (registration === 'older') return skipped.older;
    await this.#queues.add(endpoint.id, submission);
    return undefined;
  }

  async #enqueueBundle(endpoint: Endpoint, submission: Submission): Promise<Answer | undefined> {
    const { update } = submission;
    const state = new BundleState(this.#deps.redis, this.#deps.keys, endpoint.id);
    if (isCancel(update)) {
      this.#supersede(endpoint, await state.cancel(submission, Date.now()));
      return skipped.cancel;
    }
    if (update.maxTimestamp === undefined) return skipped.noMaxTimestamp;
    const { answer, waiting, removed } = await state.enqueue(submission, Date.now());
    this.#supersede(endpoint, removed);
    // An earlier copy is queued, too: its process may have died before it queued the job.
    if (waiting) {
      const { id, replyTo, arrivedAtMs, place } = waiting;
      await this.#queues.add(endpoint.id, { id, replyTo, arrivedAtMs, update }, place);
    }
    return answer;
  }

  #supersede(endpoint: Endpoint, removed: Origin | undefined): void {
    if (!removed) return;
    this.#log.publish(endpoint, removed, skipped.superseded);
    this.#queues.remove(endpoint.id, removed.id);
  }
}

/** Whether an update that was answered so at once, or not yet, is at a builder or queued for it. */
const mayLand = (answer: Answer | undefined): boolean =>
  answer === undefined || answer.accepted || answer === skipped.duplicate;

/** Waits for a promise that does not reject, but no longer than until `atMs`. */
async function before(atMs: number, promise: Promise<unknown>): Promise<void> {
  const leftMs = atMs - Date.now();
  if (leftMs > 0) await withTimeout(promise, leftMs).catch(() => undefined);
}
