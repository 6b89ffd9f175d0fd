import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Order } from './clients.ts';
import type { Plan } from './connections.ts';
import type { Collected } from './readings.ts';

const SOURCE = fileURLToPath(new URL('./clients.ts', import.meta.url));

/** Connections in a process of their own. */
export class ClientProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(SOURCE, { execArgv: ['--import', 'tsx'], serialization: 'advanced' });
  }

  /** @throws Error when one cannot be opened */
  open(url: string, plans: readonly Plan[]): Promise<void> {
    return this.#ask({ kind: 'open', url, plans });
  }

  /** What was read since the last time. */
  collect(): Promise<Collected> {
    return this.#ask({ kind: 'collect' });
  }

  close(): Promise<void> {
    return this.#ask({ kind: 'close' });
  }

  stop(): void {
    this.#child.disconnect();
  }

  #ask<T>(order: Order): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (answer: { readonly result: T } | { readonly error: string }) => {
        if ('error' in answer) reject(new Error(answer.error));
        else resolve(answer.result);
      });
      this.#child.send(order);
    });
  }
}
