import type { Redis } from 'ioredis';
import type { Logger } from '../../../runtime/logger.ts';
import { startRepeating } from '../../../runtime/repeat.ts';
import { decodeMessage } from '../message.ts';
import type { Answer, AnswerNotice } from './answer.ts';

type Listener = (endpointId: string, answer: Answer) => void;

/** A subscription whose machine is gone says as little as one without answers: it is renewed, and that noticed so. */
const RENEW_EVERY_MS = 5_000;

/** Receives the answers to this API process's submissions over one subscription. */
export class AnswerInbox {
  /** Renews the subscription no longer; the connection is its owner's to close. */
  readonly close: () => void;
  readonly #listeners = new Map<string, Listener>();

  /** @param subscriber a dedicated connection that queues commands: Redis allows nothing else on one that subscribes */
  constructor(subscriber: Redis, channel: string, logger: Logger) {
    subscriber.on('message', (_channel: string, text: string) => {
      try {
        const { submissionId, endpointId, answer } = decodeMessage<AnswerNotice>(text);
        this.#listeners.get(submissionId)?.(endpointId, answer);
      } catch (error) {
        logger.error({ err: error }, 'a message on the channel of answers is not an answer');
      }
    });
    this.close = startRepeating(async () => {
      await subscriber
        .subscribe(channel)
        .catch((error: unknown) => logger.warn({ err: error }, 'cannot hear answers of builders'));
    }, RENEW_EVERY_MS);
  }

  /** Listens to the answers to a submission; call it before the update can reach any builder. Returns what ends that. */
  listen(submissionId: string, listener: Listener): () => void {
    this.#listeners.set(submissionId, listener);
    return () => this.#listeners.delete(submissionId);
  }
}
