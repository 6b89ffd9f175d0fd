import type { Lease } from '../../../runtime/lease/lease.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answer.ts';
import { BundleState } from '../../submit/bundle/bundle-state.ts';
import { deadlineMs, type Submission } from '../../submit/quote-update.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { sendBundle } from './bundle-client.ts';

/** How often a push looks whether the request of a dead worker is still in flight. */
const BUSY_POLL_MS = 20;

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
   * Sends a push, unless a newer one, a cancel or a pause has taken it out of those that wait.
   *
   * @throws LeaseLostError when the endpoint is another worker's
   */
  async process(submission: Submission): Promise<void> {
    const { endpoint, log } = this.#context;
    for (;;) {
      const isHeld = this.#lease.isHeld();
      const verdict = isHeld ? await this.#state.dequeue(submission, this.#lease.fence, Date.now()) : 'fenced';
      if (verdict === 'fenced') throw new LeaseLostError(endpoint.id);
      if (verdict === 'send') return this.#send(submission);
      if (verdict === 'expired') log.publish(endpoint, submission, skipped.expired);
      if (verdict !== 'busy') return;
      await pause(BUSY_POLL_MS);
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
