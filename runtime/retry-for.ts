import { pause } from './pause.ts';

export interface RetryOptions {
  /** After this time no further attempt begins, milliseconds. */
  readonly limitMs: number;
  /** Between the end of an attempt and the next one, milliseconds. */
  readonly pauseMs: () => number;
  /** Whether an attempt that failed so may succeed later. */
  readonly isPassing: (error: unknown) => boolean;
}

/**
 * Does work again while it fails for a while.
 *
 * @param work takes how many attempts failed before
 * @throws what the last attempt threw
 */
export async function retryFor<T>(
  work: (failed: number) => Promise<T>,
  { limitMs, pauseMs, isPassing }: RetryOptions,
): Promise<T> {
  const startedAt = performance.now();
  for (let failed = 0; ; failed += 1) {
    try {
      return await work(failed);
    } catch (error) {
      if (!isPassing(error) || performance.now() - startedAt > limitMs) throw error;
      await pause(pauseMs());
    }
  }
}
