import { setTimeout as sleep } from 'node:timers/promises';
import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../order-process.ts';
import { type LoadRequest, LoadResult, timeRequest } from './load.ts';
import { givePrecedence } from './precedence.ts';

/** Asks each in turn, over and over for so long. It is answered with a {@link LoadWindow}. */
export interface LoadOrder {
  readonly url: string;
  readonly requests: readonly LoadRequest[];
  /** Each on a connection of its own. */
  readonly clients: number;
  /** Of a client between an answer and its next request, on average: clients that waited equally long would come together. */
  readonly pauseMs: number;
  readonly seconds: number;
}

export interface LoadWindow {
  /** Milliseconds from a request to the last byte of its answer. */
  readonly p99: number;
  /** Answers that were not 200. */
  readonly rejected: number;
}

/** A separate process with precedence, so that what else the bench runs is not part of the measured times. */
runMain(async () => {
  givePrecedence(process.pid);
  answerOrders(timeWindow);
});

async function timeWindow({ url, requests, clients, pauseMs, seconds }: LoadOrder): Promise<LoadWindow> {
  const result = new LoadResult();
  const end = performance.now() + seconds * 1_000;
  let sent = 0;
  const client = async () => {
    while (performance.now() < end) {
      const { ms, status } = await timeRequest(url, requests[sent++ % requests.length] as LoadRequest);
      result.add(ms);
      if (status !== 200) result.rejected += 1;
      if (pauseMs > 0) await sleep(2 * pauseMs * Math.random());
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { p99: result.quantile(0.99), rejected: result.rejected };
}
