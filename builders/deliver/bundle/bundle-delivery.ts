import type { Lease } from '../../../runtime/lease/lease.ts';
import { pause } from '../../../runtime/pause.ts';
import { skipped } from '../../submit/answer.ts';
import { BundleState, MAX_AHEAD_MS } from '../../submit/bundle/bundle-state.ts';
import { deadlineMs, decodeMessage, type Submission } from '../../submit/quote-update.ts';
import type { Delivery, EndpointContext } from '../lease/endpoint-runner.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { sendBundle } from './bundle-client.ts';

/** How often a push checks whether the request of a dead worker is still in flight. */
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
   * Sends a push, unless it no longer waits: a newer push, a cancel or a pause may have removed it.
   *
   * @throws LeaseLostError when another worker holds the endpoint
   */
  async process(submission: Submission): Promise<void> {
    const { endpoint, log, lease } = this.#deps;
    if (!('update' in submission)) return this.#sendOld();
    for (;;) {
      if (!lease.isHeld()) throw new LeaseLostError(endpoint.id);
      const { verdict, unsettled } = await this.#state.dequeue(submission, lease.fence, Date.now());
      if (unsettled) log.note(endpoint, unsettled, 'unanswered');
      if (verdict === 'fenced') throw new LeaseLostError(endpoint.id);
      if (verdict === 'send') return this.#send(submission);
      if (verdict === 'expired') log.publish(endpoint, submission, skipped.expired);
      if (verdict !== 'busy') return;
      await pause(BUSY_POLL_MS);
    }
  }

  /** Sends pushes that API processes of release 0.2 left. Such processes still run while a deployment is upgraded. */
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

  /**
   * Sends a push, which is in flight until its deadline: until then no other worker sends, even if it has the lease.
   */
  async #send(submission: Submission): Promise<void> {
    const { endpoint, log, logger } = this.#deps;
    // The clock of the API that took it may be ahead.
    const leftMs = Math.min(deadlineMs(submission) - Date.now(), MAX_AHEAD_MS);
    if (leftMs <= 0) return log.note(endpoint, submission, 'dropped');
    const outcome = await sendBundle(endpoint, submission.update, leftMs);
    const counted = outcome.kind === 'failed' ? 'failed' : undefined;
    // The state is settled before the answer goes out: a client that then pushes again has to meet the result or pause.
    const { pauseMs, skipped: waiting } = await this.#state
      .settle(submission, outcome, Date.now())
      .finally(() => log.publish(endpoint, submission, outcome.answer, counted));
    if (pauseMs > 0) logger.warn({ pauseMs, answer: outcome.answer }, 'bundle builder paused');
    for (const other of waiting) log.publish(endpoint, other, skipped.backingOff(pauseMs));
  }
}
