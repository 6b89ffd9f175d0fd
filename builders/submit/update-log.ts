import type { Redis } from 'ioredis';
import { keccak256 } from 'viem';
import type { Logger } from '../../runtime/logger.ts';
import type { Answer, AnswerNotice, AnswerOutcome } from './answers/answer.ts';
import { outcomeOf } from './answers/skip-reasons.ts';
import type { Endpoint } from './endpoints.ts';
import { encodeMessage } from './message.ts';
import type { BuildersMetrics } from './metrics.ts';
import type { RedisKeys } from './queue/redis-keys.ts';
import { isCancel, type Submission } from './quote-update.ts';

/** Most entries that wait for the database; beyond it the oldest are lost rather than Redis' memory. */
const STREAM_LIMIT = 200_000;

/** Entries of the audit stream, as their JSON. Integers above 2^53 are decimal strings; times are Unix milliseconds. */
export type AuditEntry =
  | {
      readonly kind: 'submission';
      readonly submissionId: string;
      readonly chainId: number;
      readonly receivedAtMs: number;
      readonly replacementUuid: string;
      readonly replacementSeqNumber: string;
      readonly blockNumber: string;
      readonly maxTimestamp: string | null;
      /** Null for a cancel. */
      readonly txHash: string | null;
    }
  | {
      readonly kind: 'answer';
      readonly submissionId: string;
      readonly chainId: number;
      readonly receivedAtMs: number;
      readonly provider: string;
      readonly outcome: AnswerOutcome;
      readonly error: string | null;
      readonly bundleHash: string | null;
      readonly builderTimestampNs: string | null;
      readonly answeredAtMs: number;
    };

/**
 * Brings the course of updates to who wants to know: answers to the API process that waits for them, by publish; submissions
 * and outcomes to the audit stream, from which the worker writes them to the database, and to the metrics. Nothing waits for
 * it: an answer that cannot be delivered leaves its update `pending` for the client.
 */
export class UpdateLog {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #metrics: BuildersMetrics;
  readonly #logger: Logger;

  constructor(redis: Redis, keys: RedisKeys, metrics: BuildersMetrics, logger: Logger) {
    this.#redis = redis;
    this.#key = keys.audit();
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Notes an update that was queued. */
  submitted({ id, arrivedAtMs, update }: Submission): void {
    this.#append({
      kind: 'submission',
      submissionId: id,
      chainId: update.chainId,
      receivedAtMs: arrivedAtMs,
      replacementUuid: update.replacementUuid,
      replacementSeqNumber: update.replacementSeqNumber.toString(),
      blockNumber: update.blockNumber.toString(),
      maxTimestamp: update.maxTimestamp?.toString() ?? null,
      txHash: isCancel(update) ? null : keccak256(update.tx),
    });
  }

  /** Sends an answer to the API process that waits for it, and notes it. */
  publish(endpoint: Endpoint, submission: Submission, answer: Answer): void {
    const notice: AnswerNotice = { submissionId: submission.id, endpointId: endpoint.id, answer };
    this.#redis
      .publish(submission.replyTo, encodeMessage(notice))
      .catch((error: unknown) => this.#logger.warn({ err: error, submission: submission.id }, 'an answer was lost'));
    this.note(endpoint, submission, answer);
  }

  /** Notes an answer that needs no sending. */
  note(endpoint: Endpoint, submission: Submission, answer: Answer): void {
    this.#ended(endpoint, submission, outcomeOf(answer), answer);
  }

  /** Notes that an update ended without an answer: dropped before sending, or never acknowledged. */
  ended(endpoint: Endpoint, submission: Submission, outcome: 'dropped' | 'unanswered'): void {
    this.#ended(endpoint, submission, outcome);
  }

  #ended(endpoint: Endpoint, submission: Submission, outcome: AnswerOutcome, answer?: Answer): void {
    const answeredAtMs = Date.now();
    const secs = Math.max(0, answeredAtMs - submission.arrivedAtMs) / 1000;
    this.#metrics.outcomes.inc({ provider: endpoint.id, outcome });
    this.#metrics.latency.observe({ provider: endpoint.id }, secs);
    this.#append({
      kind: 'answer',
      submissionId: submission.id,
      chainId: submission.update.chainId,
      receivedAtMs: submission.arrivedAtMs,
      provider: endpoint.provider,
      outcome,
      error: answer && !answer.accepted ? answer.error : null,
      bundleHash: (answer?.accepted && answer.bundleHash) || null,
      builderTimestampNs: (answer?.accepted && answer.timestampNs?.toString()) || null,
      answeredAtMs,
    });
  }

  #append(entry: AuditEntry): void {
    this.#redis
      .xadd(this.#key, 'MAXLEN', '~', STREAM_LIMIT, '*', 'entry', JSON.stringify(entry))
      .catch((error: unknown) => this.#logger.warn({ err: error, entry }, 'an audit entry was lost'));
  }
}
