import { setTimeout as sleep } from 'node:timers/promises';
import { runMain } from '../../runtime/run-main.ts';
import { type LoadRequest, timeRequest } from '../hostile/load.ts';
import { givePrecedence } from '../hostile/precedence.ts';
import { answerOrders } from '../order-process.ts';

/** Asks each in turn at a constant rate, whether answers come or not, until `stop`: that is answered with {@link QuoteTimes}. */
export type QuoteOrder =
  | { readonly kind: 'start'; readonly url: string; readonly requests: readonly LoadRequest[] }
  | { readonly kind: 'stop' };

export interface QuoteTimes {
  /** Milliseconds from each request to the last byte of its answer. */
  readonly times: readonly number[];
  /** Answers that were not 200. */
  readonly rejected: number;
}

const EVERY_MS = 10;

/** A separate process with precedence, so that what else the bench runs is not part of the measured times. */
runMain(async () => {
  givePrecedence(process.pid);
  let stop = async (): Promise<QuoteTimes> => ({ times: [], rejected: 0 });
  answerOrders(async (order: QuoteOrder) => {
    if (order.kind === 'stop') return stop();
    stop = start(order.url, order.requests);
  });
});

function start(url: string, requests: readonly LoadRequest[]): () => Promise<QuoteTimes> {
  const times: number[] = [];
  const open: Promise<void>[] = [];
  let rejected = 0;
  let isStopped = false;
  const asking = (async () => {
    for (const startedAt = performance.now(); !isStopped; ) {
      const request = requests[open.length % requests.length] as LoadRequest;
      const asked = timeRequest(url, request).then(({ ms, status }) => {
        times.push(ms);
        if (status !== 200) rejected += 1;
      });
      open.push(asked);
      await sleep(Math.max(0, startedAt + open.length * EVERY_MS - performance.now()));
    }
  })();
  return async () => {
    isStopped = true;
    await asking;
    await Promise.all(open);
    return { times, rejected };
  };
}
