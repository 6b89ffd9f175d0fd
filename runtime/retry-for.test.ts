import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { retryFor } from './retry-for.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const busy = new Error('busy');
const options = { limitMs: 1_000, pauseMs: () => 100, isPassing: (error: unknown) => error === busy };

test('work that fails in passing is done again, and knows how often it failed', async () => {
  const attempts: number[] = [];
  const done = retryFor(async (failed) => {
    attempts.push(failed);
    if (failed < 3) throw busy;
    return 'done';
  }, options);
  await vi.advanceTimersByTimeAsync(300);
  expect([await done, attempts]).toEqual(['done', [0, 1, 2, 3]]);
});

test('any other failure is that of the work, and so is the first one after the limit', async () => {
  const fault = new Error('fault');
  await expect(retryFor(() => Promise.reject(fault), options)).rejects.toBe(fault);
  let attempts = 0;
  const never = retryFor(async () => {
    attempts += 1;
    throw busy;
  }, options).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([await never, attempts]).toEqual([busy, 12]);
});
