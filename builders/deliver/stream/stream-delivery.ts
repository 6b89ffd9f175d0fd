import type { LRUCache } from 'lru-cache';
import { LiveSocket } from '../../../runtime/live-socket.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answers/skip-reasons.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Hex, type Submission } from '../../submit/quote-update.ts';
import type { StreamOrder } from '../../submit/stream/stream-order.ts';
import type { UpdateLog } from '../../submit/update-log.ts';
import { type Lease, LeaseLostError } from '../lease/lease.ts';
import { decodeResponse, encodeUpdate } from './codec.ts';
import { Outstanding } from './outstanding.ts';

/** An update with less of its time left than this is dropped before sending. */
export const DROP_BELOW_MS = 500;
const SWEEP_EVERY_MS = 250;
/** How often an update that waits for the connection looks whether it is open. */
const POLL_MS = 20;

/** Pauses between dials, see `LiveSocket`. */
export type DialTimes = { readonly minPauseMs: number; readonly maxPauseMs: number };

export const DEFAULT_DIAL_TIMES: DialTimes = { minPauseMs: 2_000, maxPauseMs: 30_000 };

export type StreamDeliveryDeps = {
  readonly endpoint: Endpoint;
  readonly order: StreamOrder;
  /**
   * This process's own memory of the newest sequence number sent per uuid. It outlives leases and connections, so that order
   * holds even when Redis comes back without its data.
   */
  readonly sent: LRUCache<Hex, bigint>;
  readonly lease: Lease;
  readonly log: UpdateLog;
  readonly logger: Logger;
  readonly dialTimes: DialTimes;
};

/**
 * Sends updates over one stream while its lease is held. Several may be in flight; acknowledgements are matched by uuid
 * and sequence number and go back by themselves, so that a silent builder delays no other.
 */
export class StreamDelivery {
  readonly #deps: StreamDeliveryDeps;
  readonly #outstanding = new Outstanding();
  readonly #sweeper: NodeJS.Timeout;
  readonly #socket: LiveSocket;
  #lastSignAt = Date.now();
  #finishing = false;

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
   * Sends one update, waiting for the connection as long as that makes sense.
   *
   * @throws LeaseLostError when the update is another worker's to send
   */
  async deliver(submission: Submission): Promise<void> {
    const { endpoint, log, lease } = this.#deps;
    for (;;) {
      if (deadlineMs(submission) - DROP_BELOW_MS <= Date.now()) return log.ended(endpoint, submission, 'dropped');
      if (this.#finishing || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
      if (this.#socket.isOpen) {
        if (!(await this.#admit(submission))) return;
        if (this.#socket.isOpen) return this.#send(submission);
      }
      await pause(POLL_MS);
    }
  }

  /** Sends nothing further; updates that wait for the connection are for the next holder. */
  finish(): void {
    this.#finishing = true;
  }

  /** Waits for acknowledgements still due, at most `limitMs`, then closes the connection. */
  async stop(limitMs: number): Promise<void> {
    const giveUpAt = Date.now() + limitMs;
    while (!this.#outstanding.isEmpty && Date.now() < giveUpAt) await pause(POLL_MS);
    clearInterval(this.#sweeper);
    this.#socket.close();
    for (const submission of this.#outstanding.takeAll()) this.#unanswered(submission);
  }

  async #admit(submission: Submission): Promise<boolean> {
    const { endpoint, order, lease, sent, log } = this.#deps;
    const { update } = submission;
    const admission = await order.admit(endpoint.id, lease.fence, update);
    if (admission === 'fenced' || !lease.isHeld()) throw new LeaseLostError(endpoint.id);
    // The same number may be sent again.
    const isOlder = update.replacementSeqNumber < (sent.get(update.replacementUuid) ?? 0n);
    if (admission === 'send' && !isOlder) return true;
    log.publish(endpoint, submission, skipped.superseded);
    return false;
  }

  /** Runs without a pause after {@link #admit}, so that nothing newer can be sent in between. */
  #send(submission: Submission): void {
    const { update } = submission;
    if (!this.#outstanding.add(submission)) return;
    this.#deps.sent.set(update.replacementUuid, update.replacementSeqNumber);
    this.#socket.send(encodeUpdate(update));
  }

  #acknowledge(frame: Uint8Array): void {
    this.#lastSignAt = Date.now();
    try {
      const { key, answer } = decodeResponse(frame);
      for (const submission of this.#outstanding.take(key)) {
        this.#deps.log.publish(this.#deps.endpoint, submission, answer);
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
        this.#unanswered(submission);
      });
    }
  }

  /** A builder that said nothing for as long as an update may take is slow: its connection is replaced. */
  #sweep(): void {
    const expired = this.#outstanding.takeExpired(Date.now());
    for (const submission of expired) this.#unanswered(submission);
    const isSilent = Date.now() - this.#lastSignAt >= ACKNOWLEDGE_WITHIN_MS;
    if (expired.length > 0 && isSilent && this.#socket.isOpen) this.#socket.reconnect('no acknowledgement in time');
  }

  #unanswered(submission: Submission): void {
    this.#deps.log.ended(this.#deps.endpoint, submission, 'unanswered');
  }
}
