/** Stops this thread for a time, milliseconds, as a process that is paused. */
export const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
