import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answers/skip-reasons.ts';
import type { BundleState, TakeResult } from '../../submit/bundle/bundle-state.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { deadlineMs, type Submission } from '../../submit/quote-update.ts';
import type { UpdateLog } from '../../submit/update-log.ts';
import { type Lease, LeaseLostError } from '../lease/lease.ts';
import { sendBundle } from './bundle-client.ts';

/** Longest sleep while a request of an earlier holder may still be in flight. */
const BUSY_POLL_MS = 100;

export type BundleDeliveryDeps = {
  readonly endpoint: Endpoint;
  readonly state: BundleState;
  readonly lease: Lease;
  readonly log: UpdateLog;
  readonly logger: Logger;
};

/** Sends waiting pushes to a bundle builder, one request at a time, while the endpoint's lease is held. */
export class BundleDelivery {
  readonly #deps: BundleDeliveryDeps;
  #finishing = false;

  constructor(deps: BundleDeliveryDeps) {
    this.#deps = deps;
  }

  /** Takes no further push; what waits is for the next holder. */
  finish(): void {
    this.#finishing = true;
  }

  /**
   * Sends whatever waits, oldest place first, until nothing does.
   *
   * @throws LeaseLostError when the endpoint is another worker's
   */
  async drain(): Promise<void> {
    const { endpoint, state, lease } = this.#deps;
    while (!this.#finishing) {
      if (!lease.isHeld()) throw new LeaseLostError(endpoint.id);
      const taken = await state.take(lease.fence, Date.now());
      if (taken.kind === 'empty') return;
      if (taken.kind === 'fenced') throw new LeaseLostError(endpoint.id);
      await this.#handle(taken);
    }
  }

  async #handle(taken: Exclude<TakeResult, { kind: 'fenced' | 'empty' }>): Promise<void> {
    const { endpoint, log } = this.#deps;
    switch (taken.kind) {
      case 'busy':
        return pause(Math.min(BUSY_POLL_MS, Math.max(1, taken.untilMs - Date.now())));
      case 'late':
        return log.ended(endpoint, taken.submission, 'dropped');
      case 'expired':
        return log.publish(endpoint, taken.submission, skipped.expired);
      case 'send':
        return this.#send(taken.submission);
    }
  }

  /** The push is in flight until its deadline, which keeps every other worker off the endpoint, lease or not. */
  async #send(submission: Submission): Promise<void> {
    const { endpoint, state, log, logger } = this.#deps;
    const leftMs = deadlineMs(submission) - Date.now();
    if (leftMs <= 0) return log.ended(endpoint, submission, 'dropped');
    const outcome = await sendBundle(endpoint, submission.update, leftMs);
    // First the state, then the answer: a client that pushes again on hearing it meets the result or the pause.
    const { pauseMs, skipped: waiting } = await state
      .settle(submission, outcome, Date.now())
      .finally(() => log.publish(endpoint, submission, outcome.answer));
    if (pauseMs > 0) logger.warn({ pauseMs, answer: outcome.answer }, 'bundle builder paused');
    for (const other of waiting) log.publish(endpoint, other, skipped.backingOff(pauseMs));
  }
}
