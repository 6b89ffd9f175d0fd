/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;

export interface BreakerOptions {
  /** Failures in a row that open the breaker. */
  readonly failures: number;
  /** First pause; it doubles with each failed trial, up to `maxPauseMs`. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = { failures: 3, pauseMs: 500, maxPauseMs: 15_000 };

/**
 * Keeps requests from a node that keeps failing. Closed: everything passes. Open: nothing passes until the pause is over.
 * Then one trial passes: its success closes the breaker, its failure opens it for twice as long.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #now: Clock;
  #failuresInRow = 0;
  #pauseMs = 0;
  #openUntil = 0;
  #trialUntil = 0;

  constructor(options: BreakerOptions = DEFAULT_BREAKER, now: Clock = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  /** Asks to send one request; after true the caller reports how it went. */
  tryPass(): boolean {
    if (this.#pauseMs === 0) return true;
    const now = this.#now();
    if (now < this.#openUntil || now < this.#trialUntil) return false;
    // A trial that is never reported must not block the node for ever.
    this.#trialUntil = now + this.#options.maxPauseMs;
    return true;
  }

  succeeded(): void {
    this.#failuresInRow = 0;
    this.#pauseMs = 0;
  }

  failed(): void {
    this.#failuresInRow += 1;
    if (this.#pauseMs > 0 || this.#failuresInRow >= this.#options.failures) this.open();
  }

  /** The request was given up before it ended: another one may be the trial. */
  givenUp(): void {
    this.#trialUntil = 0;
  }

  /** Opens at once, for faults that no retry fixes soon. */
  open(): void {
    const now = this.#now();
    // Requests that were under way when it opened fail too: they must not lengthen the pause.
    if (now < this.#openUntil) return;
    this.#pauseMs = Math.min(this.#pauseMs === 0 ? this.#options.pauseMs : this.#pauseMs * 2, this.#options.maxPauseMs);
    this.#openUntil = now + this.#pauseMs;
    this.#trialUntil = 0;
  }
}
