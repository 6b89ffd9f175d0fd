import type { Redis } from 'ioredis';
import { loadScript, sortableUint64 } from '../../../runtime/redis-script.ts';
import { type Answer, skipped } from '../answer.ts';
import type { RedisKeys } from '../queue/redis-keys.ts';
import { deadlineMs, decodeMessage, encodeMessage, quoteDigest, type Submission } from '../quote-update.ts';

/** Most pushes that wait per endpoint. */
export const WAITING_LIMIT = 256;
/** For this long after a cancel, live quotes of its uuid at or below its sequence number are ignored. */
export const CANCEL_GUARD_MS = 30_000;
export const MIN_PAUSE_MS = 500;
export const MAX_PAUSE_MS = 30_000;
/** How long the newest push of a uuid is remembered after it was seen. */
const NEWEST_KEPT_MS = 3_600_000;
/** How long an accepted bundle's result is remembered: far beyond the five seconds that a quote can live. */
const ACCEPTED_KEPT_MS = 600_000;

const step = loadScript('./bundle-state.lua', import.meta.url);

export type TakeResult =
  | { readonly kind: 'fenced' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'busy'; readonly untilMs: number }
  | { readonly kind: 'late' | 'expired' | 'send'; readonly submission: Submission };

/** What came of a push at the builder. `retryAfterMs` is the pause that it asked for with a failure. */
export type PushOutcome = {
  readonly kind: 'accepted' | 'rejected' | 'failed';
  readonly answer: Answer;
  readonly retryAfterMs?: number | undefined;
};

/**
 * The waiting pushes, cancels, results and pauses of one bundle endpoint, kept in Redis so that every API and worker
 * process agrees on them. Each method is one atomic step. Times are Unix milliseconds of the caller's clock.
 */
export class BundleState {
  readonly #redis: Redis;
  readonly #keys: ReturnType<RedisKeys['bundle']>;
  readonly #lease: string;
  readonly #waitingLimit: number;

  constructor(redis: Redis, keys: RedisKeys, endpointId: string, waitingLimit: number = WAITING_LIMIT) {
    this.#redis = redis;
    this.#keys = keys.bundle(endpointId);
    this.#lease = keys.lease(endpointId);
    this.#waitingLimit = waitingLimit;
  }

  /**
   * Puts a live push with a `maxTimestamp` in the queue, or says why not.
   *
   * @returns `removed`: the older push of the same uuid that it took out of the queue
   */
  async offer(submission: Submission, nowMs: number) {
    const args = [encodeMessage(submission), this.#waitingLimit, NEWEST_KEPT_MS];
    const reply = await this.#step('offer', nowMs, submission, args);
    const [verdict, removed, detail] = reply as [string, string?, string?];
    const older = removed ? decodeMessage<Submission>(removed) : undefined;
    return { verdict: toVerdict(verdict, detail ?? ''), removed: older };
  }

  /** Notes a cancel. Returns the waiting push that it removed, if any. */
  async cancel(submission: Submission, nowMs: number): Promise<Submission | undefined> {
    const removed = await this.#step('cancel', nowMs, submission, [CANCEL_GUARD_MS]);
    return removed ? decodeMessage<Submission>(removed as string) : undefined;
  }

  /** Takes the next push; one of kind `send` is in flight until it is settled or its deadline passes. */
  async take(fence: string, nowMs: number): Promise<TakeResult> {
    const reply = await this.#step('take', nowMs, null, [fence]);
    const [kind, detail = ''] = reply as [TakeResult['kind'], string?];
    if (kind === 'fenced' || kind === 'empty') return { kind };
    if (kind === 'busy') return { kind, untilMs: Number(detail) };
    return { kind, submission: decodeMessage<Submission>(detail) };
  }

  /** Ends the request in flight. Returns the pause that begins, 0 without one, and the waiting pushes that it skips. */
  async settle(
    submission: Submission,
    outcome: PushOutcome,
    nowMs: number,
  ): Promise<{ pauseMs: number; skipped: Submission[] }> {
    const result = [outcome.kind, encodeMessage(outcome.answer), ACCEPTED_KEPT_MS];
    const reply = await this.#step('settle', nowMs, submission, [
      ...result,
      outcome.retryAfterMs ?? '',
      MIN_PAUSE_MS,
      MAX_PAUSE_MS,
    ]);
    const [pauseMs, ...payloads] = reply as [number, ...string[]];
    return { pauseMs, skipped: payloads.map((payload) => decodeMessage<Submission>(payload)) };
  }

  #step(name: string, nowMs: number, submission: Submission | null, args: readonly (string | number)[]) {
    const { state, waiting, newest, cancels, accepted } = this.#keys;
    const push = submission && toPush(submission);
    const ofPush = push ? [newest(push.uuid), cancels(push.uuid), accepted(push.digest)] : [];
    return step(this.#redis, [state, waiting, this.#lease, ...ofPush], [name, nowMs, JSON.stringify(push), ...args]);
  }
}

/** What the script compares of a submission. */
function toPush(submission: Submission) {
  const { update } = submission;
  return {
    id: submission.id,
    uuid: update.replacementUuid,
    block: sortableUint64(update.blockNumber),
    seq: sortableUint64(update.replacementSeqNumber),
    digest: quoteDigest(update),
    expiry: Number(update.maxTimestamp ?? 0n) * 1000,
    deadline: deadlineMs(submission),
  };
}

function toVerdict(verdict: string, detail: string): 'queued' | Answer {
  if (verdict === 'queued') return verdict;
  if (verdict === 'accepted') return decodeMessage<Answer>(detail);
  if (verdict === 'backingOff') return skipped.backingOff(Number(detail));
  return skipped[verdict as 'older' | 'duplicate' | 'expired' | 'queueFull'];
}
