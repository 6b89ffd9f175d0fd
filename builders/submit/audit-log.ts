import type { Redis } from 'ioredis';
import { keccak256 } from 'viem';
import type { Logger } from '../../runtime/logger.ts';
import type { Answer, AnswerOutcome } from './answers/answer.ts';
import type { Endpoint } from './endpoints.ts';
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
 * Hands submissions and answers to the audit trail through a Redis stream, from which the worker writes them to the
 * database in batches. Nothing waits for it.
 */
export class AuditLog {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #logger: Logger;

  constructor(redis: Redis, keys: RedisKeys, logger: Logger) {
    this.#redis = redis;
    this.#key = keys.audit();
    this.#logger = logger;
  }

  submission({ id, arrivedAtMs, update }: Submission): void {
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

  /** Notes how an update ended at a builder; `answer` is what was said, if anything was. */
  outcome(endpoint: Endpoint, submission: Submission, outcome: AnswerOutcome, answer?: Answer): void {
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
      answeredAtMs: Date.now(),
    });
  }

  #append(entry: AuditEntry): void {
    this.#redis
      .xadd(this.#key, 'MAXLEN', '~', STREAM_LIMIT, '*', 'entry', JSON.stringify(entry))
      .catch((error: unknown) => this.#logger.warn({ err: error, entry }, 'an audit entry was lost'));
  }
}
