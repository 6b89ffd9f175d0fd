import { runMain } from '../../runtime/run-main.ts';
import { type LoadRequest, timeRequest } from '../hostile/load.ts';
import { givePrecedence } from '../hostile/precedence.ts';
import { answerOrders } from '../order-process.ts';

/** As many clients as attack ask each in turn, without a pause, until `stop`: that is answered with {@link QuoteTimes}. */
export type QuoteOrder =
  | { readonly kind: 'start'; readonly url: string; readonly requests: readonly LoadRequest[] }
  | { readonly kind: 'stop' };

export interface QuoteTimes {
  /** Milliseconds from each request to the last byte of its answer. */
  readonly times: readonly number[];
  /** Answers that were not 200. */
  readonly rejected: number;
}

const CLIENTS = 200;

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
  let rejected = 0;
  let isStopped = false;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = client; !isStopped; turn += 1) {
      const { ms, status } = await timeRequest(url, requests[turn % requests.length] as LoadRequest);
      times.push(ms);
      if (status !== 200) rejected += 1;
    }
  });
  return async () => {
    isStopped = true;
    await Promise.all(clients);
    return { times, rejected };
  };
}
