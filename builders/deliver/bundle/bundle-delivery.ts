import type { Lease } from '../../../runtime/lease/lease.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answer.ts';
import { BundleState } from '../../submit/bundle/bundle-state.ts';
import { deadlineMs, type Submission } from '../../submit/quote-update.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { sendBundle } from './bundle-client.ts';

/** Longest sleep while a request of an earlier holder may still be in flight. */
const BUSY_POLL_MS = 100;

/** Sends waiting pushes to a bundle builder, one request at a time, while the endpoint's lease is held. */
export class BundleDelivery implements Delivery {
  readonly #context: EndpointContext;
  readonly #state: BundleState;
  readonly #lease: Lease;

  constructor(context: EndpointContext, lease: Lease) {
    this.#context = context;
    this.#state = new BundleState(context.redis, context.keys, context.endpoint.id);
    this.#lease = lease;
  }

  /**
   * Sends whatever waits, oldest place first, until nothing does.
   *
   * @throws LeaseLostError when the endpoint is another worker's
   */
  async process(): Promise<void> {
    const { endpoint, log } = this.#context;
    for (;;) {
      if (!this.#lease.isHeld()) throw new LeaseLostError(endpoint.id);
      const taken = await this.#state.take(this.#lease.fence, Date.now());
      switch (taken.kind) {
        case 'empty':
          return;
        case 'fenced':
          throw new LeaseLostError(endpoint.id);
        case 'busy':
          await pause(Math.min(BUSY_POLL_MS, Math.max(1, taken.untilMs - Date.now())));
          break;
        case 'late':
          log.note(endpoint, taken.submission, 'dropped');
          break;
        case 'expired':
          log.publish(endpoint, taken.submission, skipped.expired);
          break;
        case 'send':
          await this.#send(taken.submission);
      }
    }
  }

  /** The push is in flight until its deadline, which keeps every other worker off the endpoint, lease or not. */
  async #send(submission: Submission): Promise<void> {
    const { endpoint, log, logger } = this.#context;
    const leftMs = deadlineMs(submission) - Date.now();
    if (leftMs <= 0) return log.note(endpoint, submission, 'dropped');
    const outcome = await sendBundle(endpoint, submission.update, leftMs);
    // First the state, then the answer: a client that pushes again on hearing it meets the result or the pause.
    const { pauseMs, skipped: waiting } = await this.#state
      .settle(submission, outcome, Date.now())
      .finally(() => log.publish(endpoint, submission, outcome.answer));
    if (pauseMs > 0) logger.warn({ pauseMs, answer: outcome.answer }, 'bundle builder paused');
    for (const other of waiting) log.publish(endpoint, other, skipped.backingOff(pauseMs));
  }
}
