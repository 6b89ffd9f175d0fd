import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import { decodeMessage } from '../message.ts';
import type { Answer, AnswerNotice } from './answer.ts';

type Waiter = { readonly open: Set<string>; readonly answers: Map<string, Answer>; readonly done: () => void };

/** A subscription whose machine is gone says as little as one without answers: it is asked for again, and noticed so. */
const RENEW_EVERY_MS = 5_000;

/** Receives the answers to this API process's submissions over one subscription. */
export class AnswerInbox {
  readonly #waiters = new Map<string, Waiter>();
  readonly #renewal: NodeJS.Timeout;

  /**
   * @param subscriber a connection of its own: Redis allows nothing else on one that subscribes. It subscribes again by
   *   itself when it comes back
   */
  constructor(subscriber: Redis, channel: string, logger: Logger) {
    const subscribe = () =>
      subscriber
        .subscribe(channel)
        .catch((error: unknown) => logger.warn({ err: error }, 'cannot hear answers of builders'));
    const subscribeIfReady = () => {
      if (subscriber.status === 'ready') void subscribe();
    };
    subscribeIfReady();
    subscriber.on('ready', subscribe);
    this.#renewal = setInterval(subscribeIfReady, RENEW_EVERY_MS);
    subscriber.on('message', (_channel: string, text: string) => {
      try {
        const { submissionId, endpointId, answer } = decodeMessage<AnswerNotice>(text);
        this.#settle(submissionId, endpointId, answer);
      } catch (error) {
        logger.error({ err: error }, 'a message on the channel of answers is not an answer');
      }
    });
  }

  /** Starts to collect the answers to a submission; call it before the update can reach any builder. */
  expect(submissionId: string, endpointIds: readonly string[]): Expectation {
    const answers = new Map<string, Answer>();
    const complete = new Promise<void>((done) => {
      this.#waiters.set(submissionId, { open: new Set(endpointIds), answers, done });
    });
    return {
      answers,
      complete,
      settle: (endpointId, answer) => this.#settle(submissionId, endpointId, answer),
      stop: () => this.#waiters.delete(submissionId),
    };
  }

  /** Renews the subscription no longer; the connection is its owner's to close. */
  close(): void {
    clearInterval(this.#renewal);
  }

  #settle(submissionId: string, endpointId: string, answer: Answer): void {
    const waiter = this.#waiters.get(submissionId);
    if (!waiter?.open.delete(endpointId)) return;
    waiter.answers.set(endpointId, answer);
    if (waiter.open.size === 0) waiter.done();
  }
}

/** The answers to one submission as they come in, by endpoint id. */
export type Expectation = {
  readonly answers: ReadonlyMap<string, Answer>;
  /** Resolves when every endpoint has answered. */
  readonly complete: Promise<void>;
  /** Notes an answer that was known at once. */
  settle(endpointId: string, answer: Answer): void;
  stop(): void;
};
