import { LRUCache } from 'lru-cache';
import type { Lease } from '../../../runtime/lease/lease.ts';
import { LiveSocket } from '../../../runtime/live-socket.ts';
import { pause } from '../../../runtime/pause.ts';
import { type Answer, skipped } from '../../submit/answer.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Hex, type Submission } from '../../submit/quote-update.ts';
import { admitUpdate } from '../../submit/stream/stream-order.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { type StreamCodec, updateKey } from './stream-codec.ts';

/** An update with less time left than this is dropped instead of sent. */
const DROP_BELOW_MS = 500;
const SWEEP_EVERY_MS = 250;
/** How often an update that waits for the connection checks whether it is open. */
const POLL_MS = 20;
/** How long a delivery that stops waits for acknowledgements. */
const LAST_ANSWERS_MS = 500;

/** Most submissions remembered for a connection: far more than come while one of them may still be sent. */
const MAX_REMEMBERED = 10_000;

/** Pauses between dials, see `LiveSocket`. */
export type DialTimes = { readonly minPauseMs: number; readonly maxPauseMs: number };

export type StreamDeliveryDeps = EndpointContext & {
  readonly lease: Lease;
  readonly codec: StreamCodec;
  /**
   * This process's own memory of the newest sequence number sent per uuid. It outlives leases and connections, so that order
   * holds even when Redis comes back without its data.
   */
  readonly sent: LRUCache<Hex, bigint>;
  /** Called with each update that is taken from the queue. */
  readonly onUpdate: (submission: Submission) => void;
  readonly dialTimes: DialTimes;
};

/**
 * Sends updates over one connection, to a stream builder or a relayer, while its lease is held. Several may be in flight.
 * Acknowledgements are matched by uuid and sequence number, and each is published when it comes, so that a builder that
 * does not answer delays no other.
 */
export class StreamDelivery implements Delivery {
  /** Submissions that wait for an acknowledgement, oldest first. One serves all submissions of the same update. */
  readonly #outstanding = new Map<string, Submission[]>();
  /** Answers to what was sent on this connection, by id of the submission; null while there is none. */
  readonly #answers = new LRUCache<string, { readonly answer: Answer | null }>({ max: MAX_REMEMBERED });
  readonly #sweeper: NodeJS.Timeout;
  readonly #socket: LiveSocket;
  #lastSignAt = Date.now();

  /** Opens the connection. */
  constructor(private readonly deps: StreamDeliveryDeps) {
    const { url, apiKey } = deps.endpoint;
    this.#socket = new LiveSocket({
      url,
      headers: apiKey === undefined ? {} : { [deps.codec.keyHeader]: apiKey },
      isPosting: deps.codec.hasHttp && /^http/i.test(url),
      ...deps.dialTimes,
      onOpen: () => this.#sendAgain(),
      onMessage: (frame) => this.#acknowledge(frame),
      logger: deps.logger,
    });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
  }

  /**
   * Sends an update, waiting for the connection as long as that makes sense.
   *
   * @throws LeaseLostError when another worker has to send the update
   */
  async process(submission: Submission): Promise<void> {
    this.deps.onUpdate(submission);
    await this.#deliver(submission);
  }

  /** Waits for acknowledgements still due, then closes the connection. */
  async stop(orderly: boolean): Promise<void> {
    const giveUpAt = Date.now() + (orderly ? LAST_ANSWERS_MS : 0);
    while (this.#outstanding.size > 0 && Date.now() < giveUpAt) await pause(POLL_MS);
    clearInterval(this.#sweeper);
    this.#socket.close();
    for (const submission of this.#takeOutstanding()) this.#noteUnanswered(submission);
  }

  async #deliver(submission: Submission): Promise<void> {
    const { endpoint, log, lease } = this.deps;
    for (;;) {
      if (deadlineMs(submission) - DROP_BELOW_MS <= Date.now()) return log.note(endpoint, submission, 'dropped');
      if (!lease.isHeld()) throw new LeaseLostError(endpoint.id);
      if (this.#socket.isOpen) {
        if (!(await this.#admit(submission))) return;
        if (this.#socket.isOpen) return this.#send(submission);
      }
      await pause(POLL_MS);
    }
  }

  async #admit(submission: Submission): Promise<boolean> {
    const { redis, keys, endpoint, lease, sent, log } = this.deps;
    const { update } = submission;
    const admission = await admitUpdate({ redis, keys, endpointId: endpoint.id, fence: lease.fence }, update);
    if (admission === 'fenced' || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
    // The same number may be sent again.
    const isOlder = update.replacementSeqNumber < (sent.get(update.replacementUuid) ?? 0n);
    if (admission === 'send' && !isOlder) return true;
    log.publish(endpoint, submission, skipped.superseded);
    return false;
  }

  /**
   * Sends an update. Nothing is awaited between {@link #admit} and this, so that nothing newer can be sent in between.
   * When Redis lost that a job was done and the queue runs it again, the builder's first answer is published again.
   */
  #send(submission: Submission): void {
    const { endpoint, codec, log, sent } = this.deps;
    const { id, update } = submission;
    const known = this.#answers.get(id);
    if (known?.answer) log.publish(endpoint, submission, known.answer);
    if (known) return;
    this.#answers.set(id, { answer: null });
    if (!this.#addOutstanding(submission)) return;
    sent.set(update.replacementUuid, update.replacementSeqNumber);
    this.#socket.send(codec.encode(update));
  }

  #acknowledge(frame: Buffer): void {
    const { endpoint, codec, log, logger } = this.deps;
    this.#lastSignAt = Date.now();
    try {
      const { key, answer } = codec.decode(frame);
      for (const submission of this.#outstanding.get(key) ?? []) {
        this.#answers.set(submission.id, { answer });
        log.publish(endpoint, submission, answer);
      }
      this.#outstanding.delete(key);
    } catch (error) {
      logger.warn({ err: error }, 'a builder sent a frame that is no acknowledgement');
    }
  }

  /** Sends again what was not acknowledged before the last connection broke: the builder may not have read it. */
  #sendAgain(): void {
    this.#lastSignAt = Date.now();
    this.#answers.clear();
    for (const submission of this.#takeOutstanding()) {
      this.#deliver(submission).catch((error: unknown) => {
        this.deps.logger.warn({ err: error, submission: submission.id }, 'an update was not sent again');
        this.#noteUnanswered(submission);
      });
    }
  }

  /**
   * Notes late updates as unanswered. When the builder sent nothing for as long as an update may take, it reconnects.
   */
  #sweep(): void {
    const now = Date.now();
    let isLate = false;
    for (const submission of this.#takeOutstanding()) {
      if (deadlineMs(submission) <= now) {
        isLate = true;
        this.#noteUnanswered(submission);
      } else this.#addOutstanding(submission);
    }
    const isTimedOut = now - this.#lastSignAt >= ACKNOWLEDGE_WITHIN_MS;
    if (isLate && isTimedOut && this.#socket.isOpen) this.#socket.reconnect('no acknowledgement in time');
  }

  /** Returns whether nothing else waits for the same acknowledgement. */
  #addOutstanding(submission: Submission): boolean {
    const key = updateKey(submission.update);
    const known = this.#outstanding.get(key);
    if (known) known.push(submission);
    else this.#outstanding.set(key, [submission]);
    return known === undefined;
  }

  #takeOutstanding(): Submission[] {
    const all = [...this.#outstanding.values()].flat();
    this.#outstanding.clear();
    return all;
  }

  #noteUnanswered(submission: Submission): void {
    this.deps.log.note(this.deps.endpoint, submission, 'unanswered');
  }
}
