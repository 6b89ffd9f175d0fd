import type { Clock } from '../../chain/circuit-breaker.ts';

/** An amount that may be taken in each window; a window begins with the first taking. */
export class WindowLimit {
  readonly #size: number;
  readonly #windowMs: number;
  readonly #now: Clock;
  #left = 0;
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(size: number, windowMs: number, now: Clock = () => performance.now()) {
    this.#size = size;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /**
   * Takes all of an amount or nothing of it.
   *
   * @returns 0 when it is taken, else the time until the next window, in milliseconds
   */
  take(amount: number): number {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#left = this.#size;
      this.#endsAt = now + this.#windowMs;
    }
    if (amount > this.#left) return this.#endsAt - now;
    this.#left -= amount;
    return 0;
  }
}
