import type { Clock } from '../runtime/clock.ts';

/** Failures in a row that open a breaker. */
const MAX_FAILURES = 3;
/** First pause of an open breaker; it doubles with each failed trial. */
const MIN_PAUSE_MS = 500;
/** Longest pause; also how long a trial whose end is not reported keeps other requests out. */
const MAX_PAUSE_MS = 15_000;

/**
 * Keeps requests from a node that keeps failing. Closed: everything passes. Open: nothing passes until the pause is
 * over. Then one trial passes: its success closes the breaker, its failure opens it for twice as long. cockatiel's
 * breaker would let all further requests wait for the trial, instead of going to the next node.
 */
export class CircuitBreaker {
  readonly #now: Clock;
  #failuresInRow = 0;
  #pauseMs = 0;
  /** While the breaker is open, nothing passes before this time. */
  #pausedUntil = 0;
  #isOnTrial = false;

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Whether it keeps requests out, or lets one through as a trial. */
  get isOpen(): boolean {
    return this.#pauseMs > 0;
  }

  /** Whether one request may be sent; if so, the caller reports how it ended. */
  tryPass(): boolean {
    if (this.#pauseMs === 0) return true;
    const now = this.#now();
    if (now < this.#pausedUntil) return false;
    this.#isOnTrial = true;
    this.#pausedUntil = now + MAX_PAUSE_MS;
    return true;
  }

  succeeded(): void {
    this.#failuresInRow = 0;
    this.#pauseMs = 0;
  }

  failed(): void {
    this.#failuresInRow += 1;
    if (this.#pauseMs > 0 || this.#failuresInRow >= MAX_FAILURES) this.open();
  }

  /** The caller gave the request up before it ended: another one may be the trial. */
  givenUp(): void {
    if (this.#isOnTrial) this.#pausedUntil = 0;
  }

  /** Opens at once, for faults that no retry fixes soon. */
  open(): void {
    // Requests that were in flight when it opened fail too: they must not lengthen the pause.
    if (this.#pauseMs > 0 && !this.#isOnTrial) return;
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, MIN_PAUSE_MS), MAX_PAUSE_MS);
    this.#pausedUntil = this.#now() + this.#pauseMs;
    this.#isOnTrial = false;
  }
}
