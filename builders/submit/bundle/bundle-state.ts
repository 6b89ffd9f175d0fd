import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { encodeBigints } from '../../../runtime/json.ts';
import { loadScript, sortableUint64 } from '../../../runtime/redis-script.ts';
import { type Answer, skipped } from '../answer.ts';
import type { RedisKeys } from '../queue/redis-keys.ts';
import { deadlineMs, decodeMessage, type Origin, quoteDigest, type Submission } from '../quote-update.ts';

/** Most pushes that wait per endpoint. */
export const WAITING_LIMIT = 256;
/** For this long after a cancel, live quotes of its uuid at or below its sequence number are ignored. */
export const CANCEL_GUARD_MS = 30_000;
export const MIN_PAUSE_MS = 500;
export const MAX_PAUSE_MS = 30_000;
/** Pauses and requests in flight end within this time, also where a clock stepped back. Clocks differ by seconds. */
export const MAX_AHEAD_MS = 2 * MAX_PAUSE_MS;
/** How long the newest push of a uuid is remembered after it was seen. */
const NEWEST_KEPT_MS = 3_600_000;
/** How long an accepted bundle's result is remembered: far beyond the five seconds that a quote can live. */
const ACCEPTED_KEPT_MS = 600_000;

const enqueue = loadScript('./enqueue.lua', import.meta.url);
const cancel = loadScript('./cancel.lua', import.meta.url);
const dequeue = loadScript('./dequeue.lua', import.meta.url);
const settle = loadScript('./settle.lua', import.meta.url);

/** What the scripts know of a push: where it came from, and its place among waiting pushes. Lower places come first. */
export type WaitingPush = Origin & { readonly place: number };

/**
 * What becomes of the push of a job. `send`: it is in flight now. `busy`: a dead worker's request is still in flight.
 * `fenced`: another worker holds the endpoint. `gone`: the push no longer waits. `expired`: its `maxTimestamp` passed.
 */
export type TurnVerdict = 'send' | 'busy' | 'fenced' | 'gone' | 'expired';

/** Outcome of a push at the builder. `retryAfterMs` is the pause that the builder asked for with a failure. */
export type PushOutcome = {
  readonly kind: 'accepted' | 'rejected' | 'failed';
  readonly answer: Answer;
  readonly retryAfterMs?: number | undefined;
};

/**
 * Decides which pushes of one bundle endpoint wait and which is sent, in Redis, so that every API and worker process
 * agrees. The pushes themselves are in BullMQ's jobs. Each method is one atomic step.
 * Times are Unix milliseconds of the caller's clock.
 */
export class BundleState {
  readonly #redis: Redis;
  readonly #keys: ReturnType<RedisKeys['bundle']>;
  readonly #waitingLimit: number;

  constructor(redis: Redis, keys: RedisKeys, endpointId: string, waitingLimit: number = WAITING_LIMIT) {
    this.#redis = redis;
    this.#keys = keys.bundle(endpointId);
    this.#waitingLimit = waitingLimit;
  }

  /**
   * Notes a live push with a `maxTimestamp` as waiting, or answers it.
   *
   * @returns `answer`: known without the builder; `waiting`: the push, or its earlier copy, which the caller queues
   *   unless its job is there already; `removed`: the older push of the uuid, which no longer waits
   */
  async enqueue(
    submission: Submission,
    nowMs: number,
  ): Promise<{ answer?: Answer | undefined; waiting?: WaitingPush | undefined; removed?: WaitingPush | undefined }> {
    const reply = await this.#run(enqueue, submission, nowMs, [this.#waitingLimit, NEWEST_KEPT_MS, MAX_AHEAD_MS]);
    const [verdict, removed, detail] = reply as [string, string?, string?];
    const waiting = verdict === 'queued' || verdict === 'duplicate' ? toPush(detail) : undefined;
    return { answer: toAnswer(verdict, detail), waiting, removed: toPush(removed) };
  }

  /** Notes a cancel. Returns the waiting push that it removed, if any. */
  async cancel(submission: Submission, nowMs: number): Promise<WaitingPush | undefined> {
    return toPush((await this.#run(cancel, submission, nowMs, [CANCEL_GUARD_MS])) as string);
  }

  /**
   * Decides at a push's turn whether it is sent. If so, it is in flight until it is settled or its deadline passes.
   *
   * @returns `unsettled`: the push that was in flight until its deadline, since its worker died
   */
  async dequeue(
    submission: Submission,
    fence: string,
    nowMs: number,
  ): Promise<{ verdict: TurnVerdict; unsettled?: WaitingPush | undefined }> {
    const reply = await this.#run(dequeue, submission, nowMs, [fence, randomUUID(), MAX_AHEAD_MS]);
    const [verdict, unsettled] = reply as [TurnVerdict, string?];
    return { verdict, unsettled: toPush(unsettled) };
  }

  /** Ends the request in flight. Returns the pause that begins, 0 without one, and the waiting pushes that it skips. */
  async settle(
    submission: Submission,
    { kind, answer, retryAfterMs }: PushOutcome,
    nowMs: number,
  ): Promise<{ pauseMs: number; skipped: WaitingPush[] }> {
    const result = [kind, encodeBigints(answer), ACCEPTED_KEPT_MS];
    const pauses = [retryAfterMs ?? '', MIN_PAUSE_MS, MAX_PAUSE_MS];
    const reply = await this.#run(settle, submission, nowMs, [...result, ...pauses, randomUUID()]);
    const [pauseMs, ...skipped] = reply as [number, ...string[]];
    return { pauseMs, skipped: skipped.map((push) => JSON.parse(push)) };
  }

  #run(script: typeof enqueue, submission: Submission, nowMs: number, args: readonly (string | number)[]) {
    const { state, waiting, lease, newest, cancels, accepted, settled } = this.#keys;
    const { update, ...arrival } = submission;
    const [block, seq] = [sortableUint64(update.blockNumber), sortableUint64(update.replacementSeqNumber)];
    const push = {
      ...arrival,
      update: { chainId: update.chainId },
      uuid: update.replacementUuid,
      block,
      seq,
      order: `${block}|${seq}`,
      digest: quoteDigest(update),
      expiry: Number(update.maxTimestamp ?? 0n) * 1000,
      deadline: deadlineMs(submission),
    };
    const ofPush = [newest(push.uuid), cancels(push.uuid), accepted(push.digest)];
    return script(this.#redis, [state, waiting, lease, ...ofPush, settled], [nowMs, JSON.stringify(push), ...args]);
  }
}

const toPush = (json: string | null | undefined): WaitingPush | undefined => (json ? JSON.parse(json) : undefined);

function toAnswer(verdict: string, detail = ''): Answer | undefined {
  if (verdict === 'queued') return undefined;
  if (verdict === 'accepted') return decodeMessage<Answer>(detail);
  if (verdict === 'backingOff') return skipped.backingOff(Number(detail));
  return skipped[verdict as 'older' | 'duplicate' | 'expired' | 'queueFull'];
}
