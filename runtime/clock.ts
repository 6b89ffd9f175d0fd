/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;
