import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../../test/abuse/order-process.ts';
import { connectSse, connectWebSocket, type StreamConnection } from '../../test/stream/stream-connection.ts';
import type { Plan } from './connections.ts';
import { type Collected, Readings } from './readings.ts';

/** What the bench sends to the process of clients, each with one response. Connections take the servers in turns. */
export type Order =
  | { readonly kind: 'open'; readonly urls: readonly string[]; readonly plans: readonly Plan[] }
  /** Answered with what was {@link Collected} since the last time. */
  | { readonly kind: 'collect' }
  | { readonly kind: 'close' };

/** Connections that are opened at once. */
const BATCH = 50;
/** A slow reader takes what its socket has at one go, this often. */
const SLOW_READ_MS = 1_000;

runMain(async () => {
  let clients: StreamConnection[] = [];
  const readings = new Readings();
  const obey = async (order: Order) => {
    switch (order.kind) {
      case 'open':
        for (let start = 0; start < order.plans.length; start += BATCH) {
          const batch = order.plans.slice(start, start + BATCH);
          clients.push(...(await Promise.all(batch.map((plan, n) => open(order.urls, plan, readings, start + n)))));
        }
        return null;
      case 'collect':
        return readings.take() satisfies Collected;
      case 'close':
        for (const client of clients) client.close();
        clients = [];
        readings.forget();
        return null;
    }
  };
  answerOrders(obey);
});

/** Resolves with the first message; for a reader that never reads, when the stream is open. */
function open(urls: readonly string[], plan: Plan, readings: Readings, index: number): Promise<StreamConnection> {
  const url = urls[index % urls.length] ?? '';
  const connect = plan.transport === 'sse' ? connectSse : connectWebSocket;
  return new Promise((resolve, reject) => {
    const connection = connect(url, plan, {
      opened: () => {
        if (plan.pace === 'never') resolve(connection);
      },
      message: (event, _id, data) => {
        readings.note(index, event, data);
        resolve(connection);
        if (plan.pace !== 'slow') return;
        connection.pause();
        setTimeout(connection.resume, SLOW_READ_MS).unref();
      },
      ended: (why) => {
        readings.noteClosed(plan.pace);
        reject(new Error(`connection ${index} ended: ${why}`));
      },
    });
    if (plan.pace === 'never') connection.pause();
  });
}
