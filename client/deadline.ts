/** Longer times end a timer of the platform at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Gives a time that a timer takes, also for Infinity. */
export const timerMs = (milliseconds: number): number => Math.min(milliseconds, MAX_TIMER_MS);

/**
 * Runs work with a signal that aborts when the caller's signal does, or after a time. It leaves no timer or listener
 * behind.
 *
 * @param timeoutMs time for the work, milliseconds
 * @param onTimeout the reason of the signal when the time is over
 */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  onTimeout: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(onTimeout()), timerMs(timeoutMs));
  signal?.addEventListener('abort', abort);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Waits for a time. If the signal aborts before, it rejects with the signal's reason. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, timerMs(milliseconds));
    signal.addEventListener('abort', abort, { once: true });
    return undefined;
  });
}

/**
 * Gives a pause that doubles with each attempt, less up to half at random, so that clients do not retry all at once.
 */
export function backoffMs(attempt: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}
