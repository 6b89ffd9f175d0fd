/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;

/** Failures in a row that open a breaker. */
const MAX_FAILURES = 3;
/** First pause of an open breaker; it doubles with each failed trial. */
const MIN_PAUSE_MS = 500;
/** Longest pause; also how long a trial may take whose end is not reported. */
const MAX_PAUSE_MS = 15_000;

/**
 * Keeps requests from a node that keeps failing. Closed: everything passes. Open: nothing passes until the pause is over.
 * Then one trial passes: its success closes the breaker, its failure opens it for twice as long. Not cockatiel's, which lets
 * all further requests wait for a trial instead of going to the next node.
 */
export class CircuitBreaker {
  readonly #now: Clock;
  #failuresInRow = 0;
  #pauseMs = 0;
  /** Nothing passes before. */
  #closedUntil = 0;
  #isOnTrial = false;

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /** Asks to send one request; after true the caller reports how it went. */
  tryPass(): boolean {
    if (this.#pauseMs === 0) return true;
    const now = this.#now();
    if (now < this.#closedUntil) return false;
    this.#isOnTrial = true;
    this.#closedUntil = now + MAX_PAUSE_MS;
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

  /** The request was given up before it ended: another one may be the trial. */
  givenUp(): void {
    if (this.#isOnTrial) this.#closedUntil = 0;
  }

  /** Opens at once, for faults that no retry fixes soon. */
  open(): void {
    // Requests that were under way when it opened fail too: they must not lengthen the pause.
    if (this.#pauseMs > 0 && !this.#isOnTrial) return;
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, MIN_PAUSE_MS), MAX_PAUSE_MS);
    this.#closedUntil = this.#now() + this.#pauseMs;
    this.#isOnTrial = false;
  }
}
