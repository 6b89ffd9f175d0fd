import { LRUCache } from 'lru-cache';
import { Alarm } from '../../../runtime/alarm.ts';
import type { Lease } from '../../../runtime/lease/lease.ts';
import { LiveSocket } from '../../../runtime/live-socket.ts';
import { OutageLog } from '../../../runtime/outage-log.ts';
import type { Hex, Submission } from '../../submit/quote-update.ts';
import { admitUpdate, NEWEST_KEPT_MS } from '../../submit/stream/stream-order.ts';
import { sanitizeBuilderText } from '../builder-text.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { type DeliveryEffect, type DeliveryEvent, newDelivery, nextDelivery, wakeAt } from './next-delivery.ts';
import type { Acknowledgement, StreamCodec } from './stream-codec.ts';

/** How long a delivery that stops waits for acknowledgements. */
const LAST_ANSWERS_MS = 500;
/** Most uuids of an endpoint whose newest sequence number is remembered. */
const MAX_SENT_UUIDS = 50_000;
/** How long frames must be acknowledgements before that is logged. */
const MALFORMED_QUIET_MS = 60_000;

/** Pauses between dials, see `LiveSocket`. */
export type DialTimes = { readonly minPauseMs: number; readonly maxPauseMs: number };

export type StreamDeliveryDeps = EndpointContext & {
  readonly lease: Lease;
  readonly codec: StreamCodec;
  /**
   * This process's own memory of the newest sequence number sent per uuid. It outlives leases and connections, so that
   * order holds even when Redis comes back without its data.
   */
  readonly sent: LRUCache<Hex, bigint>;
  /** Called with each update that is taken from the queue. */
  readonly onUpdate: (submission: Submission) => void;
  readonly dialTimes: DialTimes;
};

/** Makes a memory of what was sent. It forgets a uuid when Redis does: its numbers may then begin again. */
export const rememberSent = (perf: Pick<typeof performance, 'now'> = performance) =>
  new LRUCache<Hex, bigint>({ max: MAX_SENT_UUIDS, ttl: NEWEST_KEPT_MS, ttlResolution: 0, perf });

/**
 * Sends updates over one connection, to a stream builder or a relayer, while its lease is held: does at the right time
 * what {@link nextDelivery} says. Several updates may be in flight. Each acknowledgement is published when it comes, so
 * that a builder that does not answer delays no other.
 */
export class StreamDelivery implements Delivery {
  readonly #deps: StreamDeliveryDeps;
  #state = newDelivery(Date.now());
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));
  readonly #socket: LiveSocket;
  /** Jobs that run, by what they deliver. What is attempted again on a later connection has no job any more. */
  readonly #jobs = new Map<Submission, PromiseWithResolvers<void>>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #malformed: OutageLog;

  /** Opens the connection. */
  constructor(deps: StreamDeliveryDeps) {
    this.#deps = deps;
    const { url, apiKey } = deps.endpoint;
    this.#malformed = new OutageLog(deps.logger, {
      begin: 'a builder sends frames that are not acknowledgements',
      end: 'a builder sends acknowledgements alone again',
      quietMs: MALFORMED_QUIET_MS,
    });
    this.#socket = new LiveSocket({
      url,
      headers: apiKey === undefined ? {} : { [deps.codec.keyHeader]: apiKey },
      isPosting: deps.codec.hasHttp && /^http/i.test(url),
      ...deps.dialTimes,
      onOpen: () => this.#take({ kind: 'opened' }),
      onMessage: (frame) => this.#hear(frame),
      logger: deps.logger,
    });
  }

  /**
   * Sends an update, waiting for the connection as long as that makes sense.
   *
   * @throws LeaseLostError when another worker has to send the update
   */
  async process(submission: Submission): Promise<void> {
    this.#deps.onUpdate(submission);
    const job = Promise.withResolvers<void>();
    this.#jobs.set(submission, job);
    this.#take({ kind: 'taken', submission });
    await job.promise;
  }

  /** Gives back what waits, since the lease is over. */
  giveBack(): void {
    this.#take({ kind: 'time' });
  }

  /** Waits for acknowledgements still due, then closes the connection. */
  async stop(orderly: boolean): Promise<void> {
    this.#take({ kind: 'stopping', graceMs: orderly ? LAST_ANSWERS_MS : 0 });
    await this.#closed.promise;
  }

  #take(event: DeliveryEvent): void {
    const now = Date.now();
    const moment = { now, isOpen: this.#socket.isOpen, leaseUntil: now + this.#deps.lease.leftMs() };
    const [state, effects] = nextDelivery(this.#state, event, moment);
    this.#state = state;
    this.#alarm.set(wakeAt(state, moment), now);
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: DeliveryEffect): void {
    const { endpoint, log } = this.#deps;
    switch (effect.kind) {
      case 'admit':
        void this.#admit(effect.submission);
        break;
      case 'send':
        this.#send(effect.submission);
        break;
      case 'publish':
        log.publish(endpoint, effect.submission, effect.answer);
        break;
      case 'note':
        log.note(endpoint, effect.submission, effect.end);
        break;
      case 'done':
        this.#takeJob(effect.submission)?.resolve();
        break;
      case 'giveBack':
        this.#fail(effect.submission, new LeaseLostError(endpoint.id));
        break;
      case 'reconnect':
        this.#socket.reconnect('no acknowledgement in time');
        break;
      case 'close':
        this.#socket.close();
        this.#closed.resolve();
    }
  }

  /**
   * Nothing is awaited between the decision of Redis and the send that may follow: nothing newer is sent in between.
   */
  async #admit(submission: Submission): Promise<void> {
    const { redis, keys, endpoint, lease, sent } = this.#deps;
    const { update } = submission;
    try {
      const admission = await admitUpdate({ redis, keys, endpointId: endpoint.id, fence: lease.fence }, update);
      // The same number may be sent again.
      const isOlder = update.replacementSeqNumber < (sent.get(update.replacementUuid) ?? 0n);
      this.#take({ kind: 'admitted', submission, admission, isOlder });
    } catch (error) {
      this.#fail(submission, error);
    }
  }

  #send({ update }: Submission): void {
    this.#deps.sent.set(update.replacementUuid, update.replacementSeqNumber);
    this.#socket.send(this.#deps.codec.encode(update));
  }

  #hear(frame: Buffer): void {
    let acknowledgement: Acknowledgement | null = null;
    try {
      acknowledgement = this.#deps.codec.decode(frame);
      this.#malformed.worked();
    } catch (error) {
      // The error may quote the frame.
      this.#malformed.failed(sanitizeBuilderText(String(error)));
    }
    this.#take({ kind: 'heard', acknowledgement });
  }

  #fail(submission: Submission, error: unknown): void {
    const job = this.#takeJob(submission);
    job?.reject(error);
    if (job) return;
    const { endpoint, log, logger } = this.#deps;
    logger.warn({ err: error, submission: submission.id }, 'an update was not sent again');
    log.note(endpoint, submission, 'unanswered');
  }

  #takeJob(submission: Submission): PromiseWithResolvers<void> | undefined {
    const job = this.#jobs.get(submission);
    this.#jobs.delete(submission);
    return job;
  }
}
