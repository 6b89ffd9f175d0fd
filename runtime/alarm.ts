/** Calls back at the time that was set last, once. Times are of one clock, milliseconds. */
export class Alarm {
  readonly #wake: () => void;
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** @param at infinite or null: it does not call back */
  set(at: number | null, now: number): void {
    if (at === this.#at && this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = at ?? Number.POSITIVE_INFINITY;
    if (this.#at === Number.POSITIVE_INFINITY) return;
    const ring = () => {
      this.#timer = undefined;
      this.#wake();
    };
    this.#timer = setTimeout(ring, Math.max(0, this.#at - now)).unref();
  }
}
