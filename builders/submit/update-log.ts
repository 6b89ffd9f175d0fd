import type { Redis } from 'ioredis';
import { Counter, Histogram, type Registry } from 'prom-client';
import { keccak256 } from 'viem';
import { encodeBigints } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type Answer, type AnswerNotice, outcomeOf } from './answer.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Endpoint } from './endpoints.ts';
import type { RedisKeys } from './queue/redis-keys.ts';
import { isCancel, type Origin, type Submission } from './quote-update.ts';

/** Most entries that wait for the database. Beyond it the oldest are lost, so that Redis does not run out of memory. */
const STREAM_LIMIT = 200_000;

const ANSWER_BUCKETS_SECS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];

/**
 * Reports what happens to updates. It publishes answers to the API process that waits for them. It adds submissions and
 * outcomes to the audit stream, from which the worker writes them to the database, and counts outcomes in metrics.
 * Nothing waits for it: when an answer cannot be delivered, its update stays `pending` for the client.
 */
export class UpdateLog {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #logger: Logger;
  /** The label `provider` is the id of the endpoint, which has no URL. */
  readonly #outcomes: Counter<'provider' | 'outcome'>;
  readonly #latency: Histogram<'provider'>;

  /** To be called once for each registry, where it registers the metrics of the log. */
  constructor(redis: Redis, keys: RedisKeys, registry: Registry, logger: Logger) {
    this.#redis = redis;
    this.#key = keys.audit();
    this.#logger = logger;
    this.#outcomes = new Counter({
      name: 'pamm_outcomes_total',
      help: 'Quote updates by how they ended at a builder',
      labelNames: ['provider', 'outcome'],
      registers: [registry],
    });
    this.#latency = new Histogram({
      name: 'pamm_answer_seconds',
      help: 'Time from arrival of a quote update to its outcome at a builder',
      labelNames: ['provider'],
      buckets: ANSWER_BUCKETS_SECS,
      registers: [registry],
    });
  }

  /** Notes an update that was queued. @param isPublished whether its maker lets it be published */
  submitted(submission: Submission, isPublished: boolean): void {
    this.#append(submissionEntry(submission, isPublished));
  }

  /**
   * Sends an answer to the API process that waits for it, and notes it.
   *
   * @param counted outcome for the metric, default: that of the answer. `failed`: the builder gave no verdict
   */
  publish(endpoint: Endpoint, submission: Origin, answer: Answer, counted?: 'failed'): void {
    const notice: AnswerNotice = { submissionId: submission.id, endpointId: endpoint.id, answer };
    this.#redis
      .publish(submission.replyTo, encodeBigints(notice))
      .catch((error: unknown) => this.#logger.warn({ err: error, submission: submission.id }, 'an answer was lost'));
    this.note(endpoint, submission, answer, counted);
  }

  /** Notes how an update ended: by an answer, dropped before sending, or never acknowledged. */
  note(endpoint: Endpoint, submission: Origin, end: Answer | 'dropped' | 'unanswered', counted?: 'failed'): void {
    const entry = answerEntry(endpoint, submission, end);
    const secs = Math.max(0, entry.answeredAtMs - submission.arrivedAtMs) / 1000;
    this.#outcomes.inc({ provider: endpoint.id, outcome: counted ?? entry.outcome });
    this.#latency.observe({ provider: endpoint.id }, secs);
    this.#append(entry);
  }

  #append(entry: AuditEntry): void {
    this.#redis
      .xadd(this.#key, 'MAXLEN', '~', STREAM_LIMIT, '*', 'entry', JSON.stringify(entry))
      .catch((error: unknown) => this.#logger.warn({ err: error, entry }, 'an audit entry was lost'));
  }
}

function submissionEntry({ id, arrivedAtMs, update }: Submission, isPublished: boolean) {
  return {
    kind: 'submission' as const,
    submissionId: id,
    chainId: update.chainId,
    receivedAtMs: arrivedAtMs,
    replacementUuid: update.replacementUuid,
    replacementSeqNumber: update.replacementSeqNumber.toString(),
    blockNumber: update.blockNumber.toString(),
    maxTimestamp: update.maxTimestamp?.toString() ?? null,
    txHash: isCancel(update) ? null : keccak256(update.tx),
    pools: isPublished ? [...update.poolAddresses] : [],
  };
}

function answerEntry({ provider }: Endpoint, submission: Origin, end: Answer | 'dropped' | 'unanswered') {
  const answer = typeof end === 'string' ? undefined : end;
  return {
    kind: 'answer' as const,
    submissionId: submission.id,
    chainId: submission.update.chainId,
    receivedAtMs: submission.arrivedAtMs,
    provider,
    outcome: typeof end === 'string' ? end : outcomeOf(end),
    error: answer && !answer.accepted ? answer.error : null,
    bundleHash: (answer?.accepted && answer.bundleHash) || null,
    builderTimestampNs: (answer?.accepted && answer.timestampNs?.toString()) || null,
    answeredAtMs: Date.now(),
  };
}
