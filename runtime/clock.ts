/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;

/** The clocks of a process. */
export interface Clocks {
  readonly now: Clock;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
}
