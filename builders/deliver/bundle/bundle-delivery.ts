import type { Lease } from '../../../runtime/lease/lease.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answer.ts';
import { BundleState } from '../../submit/bundle/bundle-state.ts';
import { deadlineMs, decodeMessage, type Submission } from '../../submit/quote-update.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { sendBundle } from './bundle-client.ts';

/** How often a push looks whether the request of a dead worker is still in flight. */
const BUSY_POLL_MS = 20;

/** Sends waiting pushes to a bundle builder, one request at a time, while the endpoint's lease is held. */
export class BundleDelivery implements Delivery {
  readonly #deps: EndpointContext & { readonly lease: Lease };
  readonly #state: BundleState;

  constructor(deps: EndpointContext & { readonly lease: Lease }) {
    this.#deps = deps;
    this.#state = new BundleState(deps.redis, deps.keys, deps.endpoint.id);
  }

  /**
   * Sends a push, unless a newer one, a cancel or a pause has taken it out of those that wait.
   *
   * @throws LeaseLostError when the endpoint is another worker's
   */
  async process(submission: Submission): Promise<void> {
    const { endpoint, log, lease } = this.#deps;
    if (!('update' in submission)) return this.#sendOld();
    for (;;) {
      const verdict = lease.isHeld() ? await this.#state.dequeue(submission, lease.fence, Date.now()) : 'fenced';
      if (verdict === 'fenced') throw new LeaseLostError(endpoint.id);
      if (verdict === 'send') return this.#send(submission);
      if (verdict === 'expired') log.publish(endpoint, submission, skipped.expired);
      if (verdict !== 'busy') return;
      await pause(BUSY_POLL_MS);
    }
  }

  /** Sends what API processes of release 0.2 left, which still run while a deployment is upgraded. */
  async #sendOld(): Promise<void> {
    const { redis, keys, endpoint, log } = this.#deps;
    const { submissions } = keys.bundle(endpoint.id);
    for (const uuid of await redis.hkeys(submissions)) {
      const replies = await redis.multi().hget(submissions, uuid).hdel(submissions, uuid).exec();
      const text = replies?.[0]?.[1];
      if (typeof text !== 'string') continue;
      const submission = decodeMessage<Submission>(text);
      const { answer } = await this.#state.enqueue(submission, Date.now());
      if (answer) log.publish(endpoint, submission, answer);
      else await this.process(submission);
    }
  }

  /** The push is in flight until its deadline, which keeps every other worker off the endpoint, lease or not. */
  async #send(submission: Submission): Promise<void> {
    const { endpoint, log, logger } = this.#deps;
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
