import { once } from 'node:events';
import type { Clock } from '../../runtime/clock.ts';
import { unavailable } from '../errors.ts';

/** When the work for a request must be done. */
export class Deadline {
  /** Aborts then. */
  readonly signal: AbortSignal;
  readonly #endsAt: number;
  readonly #now: Clock;

  constructor(ms: number, now: Clock) {
    this.signal = AbortSignal.timeout(ms);
    this.#endsAt = now() + ms;
    this.#now = now;
  }

  /**
   * Also looks at the clock, since the timer cannot fire during loops that do not yield.
   *
   * @throws ApiError 503 once it passed
   */
  readonly check = (): void => {
    if (this.signal.aborted || this.#now() > this.#endsAt) throw unavailable();
  };

  /** Waits for work that cannot be aborted. @throws ApiError 503 when it takes longer, and what the work throws */
  async within<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, once(this.signal, 'abort').then(() => Promise.reject(unavailable()))]);
  }
}
