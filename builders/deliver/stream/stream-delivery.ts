import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../runtime/logger.ts';
import type { AnswerLog } from '../../submit/answers/answer-log.ts';
import { skipped } from '../../submit/answers/skip-reasons.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Submission } from '../../submit/quote-update.ts';
import type { StreamOrder } from '../../submit/stream/stream-order.ts';
import type { Lease } from '../lease/lease.ts';
import { LeaseLostError } from '../lease/lease-lost.ts';
import { decodeResponse, encodeUpdate } from './codec.ts';
import { Outstanding } from './outstanding.ts';
import type { SentLog } from './sent-log.ts';
import type { StreamConnection } from './stream-connection.ts';

/** An update with less of its time left than this is dropped before sending. */
export const DROP_BELOW_MS = 500;
const SWEEP_EVERY_MS = 250;
/** How often an update that waits for the connection looks whether it may still be sent. */
const LOOK_UP_EVERY_MS = 250;

export type StreamDeliveryDeps = {
  readonly endpoint: Endpoint;
  readonly connection: StreamConnection;
  readonly order: StreamOrder;
  readonly sent: SentLog;
  readonly lease: Lease;
  readonly answers: AnswerLog;
  readonly logger: Logger;
};

/**
 * Sends updates over one stream while its lease is held. Several may be in flight; acknowledgements are matched by uuid
 * and sequence number and go back by themselves, so that a silent builder delays no other.
 */
export class StreamDelivery {
  readonly #deps: StreamDeliveryDeps;
  readonly #outstanding = new Outstanding();
  readonly #sweeper: NodeJS.Timeout;
  #lastSignAt = Date.now();
  #finishing = false;

  constructor(deps: StreamDeliveryDeps) {
    this.#deps = deps;
    deps.connection.on('frame', (frame) => this.#acknowledge(frame));
    deps.connection.on('open', () => this.#sendAgain());
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
  }

  /**
   * Sends one update, waiting for the connection as long as that makes sense.
   *
   * @throws LeaseLostError when the update is another worker's to send
   */
  async deliver(submission: Submission): Promise<void> {
    const { connection, endpoint, answers, lease } = this.#deps;
    for (;;) {
      const usableMs = deadlineMs(submission) - DROP_BELOW_MS - Date.now();
      if (usableMs <= 0) return answers.ended(endpoint, submission, 'dropped');
      if (this.#finishing || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
      if (!(await connection.whenOpen(Math.min(usableMs, LOOK_UP_EVERY_MS)))) continue;
      if (await this.#admit(submission)) {
        if (!connection.isOpen) continue;
        this.#send(submission);
      }
      return;
    }
  }

  /** Sends nothing further; updates that wait for the connection are for the next holder. */
  finish(): void {
    this.#finishing = true;
  }

  /** Waits for acknowledgements still due, at most `limitMs`, then stops. The connection is its owner's to close. */
  async stop(limitMs: number): Promise<void> {
    const giveUpAt = Date.now() + limitMs;
    while (!this.#outstanding.isEmpty && Date.now() < giveUpAt) await sleep(20);
    clearInterval(this.#sweeper);
    this.#deps.connection.removeAllListeners('frame');
    for (const submission of this.#outstanding.takeAll()) {
      this.#deps.answers.ended(this.#deps.endpoint, submission, 'unanswered');
    }
  }

  async #admit(submission: Submission): Promise<boolean> {
    const { endpoint, order, lease, sent, answers } = this.#deps;
    const { update } = submission;
    const admission = await order.admit(endpoint.id, lease.fence, update);
    if (admission === 'fenced' || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
    const older = sent.isOlder(update.replacementUuid, update.replacementSeqNumber);
    if (admission === 'send' && !older) return true;
    answers.publish(endpoint, submission, skipped.superseded);
    return false;
  }

  /** Runs without a pause after {@link #admit}, so that nothing newer can be sent in between. */
  #send(submission: Submission): void {
    const { update } = submission;
    if (!this.#outstanding.add(submission)) return;
    this.#deps.sent.note(update.replacementUuid, update.replacementSeqNumber);
    this.#deps.connection.send(encodeUpdate(update));
  }

  #acknowledge(frame: Uint8Array): void {
    this.#lastSignAt = Date.now();
    try {
      const { key, answer } = decodeResponse(frame);
      for (const submission of this.#outstanding.take(key)) {
        this.#deps.answers.publish(this.#deps.endpoint, submission, answer);
      }
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'a builder sent a frame that is no acknowledgement');
    }
  }

  /** The last connection broke before these were acknowledged: the builder may not have read them. */
  #sendAgain(): void {
    this.#lastSignAt = Date.now();
    for (const submission of this.#outstanding.takeAll()) {
      this.deliver(submission).catch((error: unknown) => {
        this.#deps.logger.warn({ err: error, submission: submission.id }, 'an update was not sent again');
        this.#deps.answers.ended(this.#deps.endpoint, submission, 'unanswered');
      });
    }
  }

  /** A builder that said nothing for as long as an update may take is slow: its connection is replaced. */
  #sweep(): void {
    const expired = this.#outstanding.takeExpired(Date.now());
    for (const submission of expired) this.#deps.answers.ended(this.#deps.endpoint, submission, 'unanswered');
    const silent = Date.now() - this.#lastSignAt >= ACKNOWLEDGE_WITHIN_MS;
    if (expired.length > 0 && silent && this.#deps.connection.isOpen) {
      this.#deps.connection.reconnect('no acknowledgement in time');
    }
  }
}
