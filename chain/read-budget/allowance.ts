import { SAVED_PART } from '../../config/read-budget-schema.ts';
import type { Clock } from '../circuit-breaker.ts';

const MINUTE_MS = 60_000;

/**
 * An amount per minute that is never exceeded, whichever minute one looks at: a part of it can be saved up, and the rest
 * comes back evenly.
 */
export class Allowance {
  readonly #saved: number;
  readonly #perMs: number;
  readonly #now: Clock;
  /** Taken, and perhaps given back: what can be saved up beside it is less. */
  #open = 0;
  #left: number;
  #at: number;

  /** @param saved what of it can be saved up */
  constructor(perMinute: number, now: Clock, saved = perMinute * SAVED_PART) {
    this.#saved = saved;
    this.#perMs = (perMinute - this.#saved) / MINUTE_MS;
    this.#now = now;
    this.#left = this.#saved;
    this.#at = now();
  }

  /** What can be saved up. */
  get most(): number {
    return this.#saved;
  }

  /** What can be taken now. */
  get left(): number {
    const now = this.#now();
    this.#left = Math.min(this.#saved - this.#open, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#left;
  }

  /** Takes at most what is left; {@link settle} must follow. */
  take(amount: number): void {
    this.#left = this.left - amount;
    this.#open += amount;
  }

  /** Gives back what was not used of an amount that was taken. */
  settle(taken: number, used: number): void {
    const { left } = this;
    this.#open -= taken;
    this.#left = left + Math.max(0, taken - used);
  }
}
