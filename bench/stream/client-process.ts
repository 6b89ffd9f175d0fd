import { OrderProcess } from '../order-process.ts';
import type { Order } from './clients.ts';
import type { Plan } from './connections.ts';
import type { Collected } from './readings.ts';

/** Connections in a process of their own. */
export class ClientProcess {
  readonly #process = new OrderProcess<Order>(new URL('./clients.ts', import.meta.url));

  /** @throws Error when one cannot be opened */
  open(url: string, plans: readonly Plan[]): Promise<void> {
    return this.#process.ask({ kind: 'open', url, plans });
  }

  /** What was read since the last time. */
  collect(): Promise<Collected> {
    return this.#process.ask({ kind: 'collect' });
  }

  close(): Promise<void> {
    return this.#process.ask({ kind: 'close' });
  }

  stop(): void {
    this.#process.stop();
  }
}
