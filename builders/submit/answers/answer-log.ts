import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import type { AuditLog } from '../audit-log.ts';
import type { Endpoint } from '../endpoints.ts';
import type { BuildersMetrics } from '../metrics.ts';
import type { Submission } from '../quote-update.ts';
import { type Answer, type AnswerMessage, type AnswerOutcome, encodeAnswer } from './answer.ts';
import { outcomeOf } from './skip-reasons.ts';

/** What an API process hears about one of its submissions. */
export type AnswerNotice = {
  readonly submissionId: string;
  readonly endpointId: string;
  readonly answer: AnswerMessage;
};

/**
 * Brings answers back: to the API process that waits for them, by publish, and to the audit trail. Nothing waits for
 * it: an answer that cannot be delivered leaves its update `pending` for the client.
 */
export class AnswerLog {
  readonly #redis: Redis;
  readonly #audit: AuditLog;
  readonly #logger: Logger;
  readonly #metrics: BuildersMetrics;

  constructor(redis: Redis, audit: AuditLog, metrics: BuildersMetrics, logger: Logger) {
    this.#redis = redis;
    this.#audit = audit;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Sends an answer to the API process that waits for it, and notes it. */
  publish(endpoint: Endpoint, submission: Submission, answer: Answer): void {
    const notice: AnswerNotice = {
      submissionId: submission.id,
      endpointId: endpoint.id,
      answer: encodeAnswer(answer),
    };
    this.#redis
      .publish(submission.replyTo, JSON.stringify(notice))
      .catch((error: unknown) => this.#logger.warn({ err: error, submission: submission.id }, 'an answer was lost'));
    this.note(endpoint, submission, answer);
  }

  /** Notes an answer that needs no sending. */
  note(endpoint: Endpoint, submission: Submission, answer: Answer): void {
    this.#count(endpoint, submission, outcomeOf(answer));
    this.#audit.outcome(endpoint, submission, outcomeOf(answer), answer);
  }

  /** Notes that an update ended without an answer: dropped before sending, or never acknowledged. */
  ended(endpoint: Endpoint, submission: Submission, how: 'dropped' | 'unanswered'): void {
    this.#count(endpoint, submission, how);
    this.#audit.outcome(endpoint, submission, how);
  }

  #count({ id: provider }: Endpoint, submission: Submission, outcome: AnswerOutcome): void {
    this.#metrics.outcomes.inc({ provider, outcome });
    this.#metrics.latency.observe({ provider }, Math.max(0, Date.now() - submission.arrivedAtMs) / 1000);
  }
}
