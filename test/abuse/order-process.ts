import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process that does one order after the other: clients of their own, so that what they take is not the API's. */
export class OrderProcess<Order extends object> {
  readonly #child: ChildProcess;

  /** @param source a module that calls {@link answerOrders} */
  constructor(source: URL) {
    // As package.json starts the bench: who collects garbage beside what is timed is part of it.
    const execArgv = ['--no-memory-reducer', '--heap-growing-percent=400', '--import', 'tsx'];
    // Of a session of its own: Linux gives each its share of the cores.
    this.#child = fork(fileURLToPath(source), { execArgv, detached: true });
  }

  /** @throws Error when it could not be done */
  ask<T>(order: Order): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (answer: { readonly result: T } | { readonly error: string }) => {
        if ('error' in answer) reject(new Error(answer.error));
        else resolve(answer.result);
      });
      this.#child.send(order);
    });
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** The other end: answers each order with what comes of it, and ends with its parent. */
export function answerOrders<Order>(obey: (order: Order) => Promise<unknown>): void {
  process.on('message', (order: Order) => {
    obey(order).then(
      (result) => process.send?.({ result }),
      (error) => process.send?.({ error: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
