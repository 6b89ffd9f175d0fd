import { setTimeout as sleep } from 'node:timers/promises';
import { OrderProcess } from './order-process.ts';
import type { LoadRequest } from './timed-request.ts';

/** Clients that each ask all in turn, over and over. */
export interface Load {
  readonly url: string;
  readonly requests: readonly LoadRequest[];
  /** Each on a connection of its own. */
  readonly clients: number;
  /**
   * Of a client between an answer and its next request, on average:
   * clients that waited equally long would come together.
   */
  readonly pauseMs: number;
}

export interface LoadWindow {
  /** Milliseconds from each request to the last byte of its answer. */
  readonly times: readonly number[];
  /** Answers that were not 200. */
  readonly rejected: number;
}

/** `stop` is answered with the window since `start`. */
export type LoadOrder = { readonly kind: 'start'; readonly load: Load } | { readonly kind: 'stop' };

/** Clients of an API in a process of their own. */
export class LoadClients {
  readonly #process = new OrderProcess<LoadOrder>(new URL('./load-clients.ts', import.meta.url));

  /** @returns what the clients saw while the work was done */
  async during(load: Load, work: () => Promise<unknown>): Promise<LoadWindow> {
    await this.#process.ask({ kind: 'start', load });
    await work();
    return this.#process.ask({ kind: 'stop' });
  }

  /** The same for so long. */
  forSeconds(load: Load, seconds: number): Promise<LoadWindow> {
    return this.during(load, () => sleep(seconds * 1_000));
  }

  stop(): void {
    this.#process.stop();
  }
}
