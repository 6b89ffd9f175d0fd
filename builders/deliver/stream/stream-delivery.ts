import { LRUCache } from 'lru-cache';
import type { Lease } from '../../../runtime/lease/lease.ts';
import { LiveSocket } from '../../../runtime/live-socket.ts';
import { pause } from '../../../runtime/pause.ts';
import { type Answer, skipped } from '../../submit/answer.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Hex, type Submission } from '../../submit/quote-update.ts';
import { admitUpdate } from '../../submit/stream/stream-order.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { decodeResponse, encodeUpdate, updateKey } from './codec.ts';

/** An update with less of its time left than this is dropped before sending. */
const DROP_BELOW_MS = 500;
const SWEEP_EVERY_MS = 250;
/** How often an update that waits for the connection looks whether it is open. */
const POLL_MS = 20;
/** How long a delivery that stops waits for acknowledgements. */
const LAST_ANSWERS_MS = 500;

/** Submissions whose fate on a connection is remembered: far more than come while one may still be sent. */
const MAX_REMEMBERED = 10_000;

/** Pauses between dials, see `LiveSocket`. */
export type DialTimes = { readonly minPauseMs: number; readonly maxPauseMs: number };

export type StreamDeliveryDeps = EndpointContext & {
  readonly lease: Lease;
  /**
   * This process's own memory of the newest sequence number sent per uuid. It outlives leases and connections, so that order
   * holds even when Redis comes back without its data.
   */
  readonly sent: LRUCache<Hex, bigint>;
  /** Told of each update that is taken. */
  readonly onUpdate: (submission: Submission) => void;
  readonly dialTimes: DialTimes;
};

/**
 * Sends updates over one stream while its lease is held. Several may be in flight; acknowledgements are matched by uuid
 * and sequence number and go back by themselves, so that a silent builder delays no other.
 */
export class StreamDelivery implements Delivery {
  readonly #deps: StreamDeliveryDeps;
  /** What waits for its acknowledgement, oldest first; one serves all submissions of the same update. */
  readonly #outstanding = new Map<string, Submission[]>();
  /** What was sent on this connection, by id of the submission, and its answer; null: none yet. */
  readonly #answers = new LRUCache<string, { readonly answer: Answer | null }>({ max: MAX_REMEMBERED });
  readonly #sweeper: NodeJS.Timeout;
  readonly #socket: LiveSocket;
  #lastSignAt = Date.now();

  /** Dials. */
  constructor(deps: StreamDeliveryDeps) {
    this.#deps = deps;
    const { url, apiKey } = deps.endpoint;
    this.#socket = new LiveSocket({
      url,
      headers: apiKey === undefined ? {} : { Authorization: apiKey },
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
   * @throws LeaseLostError when the update is another worker's to send
   */
  async process(submission: Submission): Promise<void> {
    this.#deps.onUpdate(submission);
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
    const { endpoint, log, lease } = this.#deps;
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
    const { redis, keys, endpoint, lease, sent, log } = this.#deps;
    const { update } = submission;
    const admission = await admitUpdate(redis, keys, endpoint.id, lease.fence, update);
    if (admission === 'fenced' || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
    // The same number may be sent again.
    const isOlder = update.replacementSeqNumber < (sent.get(update.replacementUuid) ?? 0n);
    if (admission === 'send' && !isOlder) return true;
    log.publish(endpoint, submission, skipped.superseded);
    return false;
  }

  /**
   * Runs without a pause after {@link #admit}, so that nothing newer can be sent in between. A job that the queue runs again,
   * because Redis lost that it was done, is answered by what the builder said the first time.
   */
  #send(submission: Submission): void {
    const { endpoint, log, sent } = this.#deps;
    const { id, update } = submission;
    const known = this.#answers.get(id);
    if (known?.answer) log.publish(endpoint, submission, known.answer);
    if (known) return;
    this.#answers.set(id, { answer: null });
    if (!this.#addOutstanding(submission)) return;
    sent.set(update.replacementUuid, update.replacementSeqNumber);
    this.#socket.send(encodeUpdate(update));
  }

  #acknowledge(frame: Uint8Array): void {
    const { endpoint, log, logger } = this.#deps;
    this.#lastSignAt = Date.now();
    try {
      const { key, answer } = decodeResponse(frame);
      for (const submission of this.#outstanding.get(key) ?? []) {
        this.#answers.set(submission.id, { answer });
        log.publish(endpoint, submission, answer);
      }
      this.#outstanding.delete(key);
    } catch (error) {
      logger.warn({ err: error }, 'a builder sent a frame that is no acknowledgement');
    }
  }

  /** The last connection broke before these were acknowledged: the builder may not have read them. */
  #sendAgain(): void {
    this.#lastSignAt = Date.now();
    this.#answers.clear();
    for (const submission of this.#takeOutstanding()) {
      this.#deliver(submission).catch((error: unknown) => {
        this.#deps.logger.warn({ err: error, submission: submission.id }, 'an update was not sent again');
        this.#noteUnanswered(submission);
      });
    }
  }

  /** A builder that said nothing for as long as an update may take is slow: its connection is replaced. */
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
    this.#deps.log.note(this.#deps.endpoint, submission, 'unanswered');
  }
}
