import { setTimeout as sleep } from 'node:timers/promises';
import { runMain } from '../../runtime/run-main.ts';
import type { Load, LoadOrder, LoadWindow } from './load.ts';
import { answerOrders } from './order-process.ts';
import { givePrecedence } from './precedence.ts';
import { type LoadRequest, timeRequest } from './timed-request.ts';

/** A separate process with precedence, so that what else runs is not part of the measured times. */
runMain(async () => {
  givePrecedence(process.pid);
  let stop = async (): Promise<LoadWindow> => ({ times: [], rejected: 0 });
  answerOrders(async (order: LoadOrder) => {
    if (order.kind === 'stop') return stop();
    stop = start(order.load);
  });
});

function start({ url, requests, clients, pauseMs }: Load): () => Promise<LoadWindow> {
  const times: number[] = [];
  let [sent, rejected, isStopped] = [0, 0, false];
  const client = async () => {
    while (!isStopped) {
      const { ms, status } = await timeRequest(url, requests[sent++ % requests.length] as LoadRequest);
      times.push(ms);
      if (status !== 200) rejected += 1;
      if (pauseMs > 0) await sleep(2 * pauseMs * Math.random());
    }
  };
  const all = Array.from({ length: clients }, client);
  return async () => {
    isStopped = true;
    await Promise.all(all);
    return { times, rejected };
  };
}
