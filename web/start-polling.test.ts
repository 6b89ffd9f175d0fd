import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPolling } from './start-polling.ts';

const stops: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The pauses between runs of work that fails as often as this before it works, seconds. */
async function pauses(everyMs: number, failures: number, runs: number): Promise<readonly number[]> {
  const times: number[] = [];
  const work = async () => {
    times.push(Date.now());
    if (times.length <= failures) throw new Error('unreachable');
  };
  stops.push(startPolling(work, everyMs));
  while (times.length < runs) await vi.advanceTimersByTimeAsync(500);
  return times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1_000);
}

test('a load that fails at first is repeated after seconds, however long its data are kept', async () => {
  expect(await pauses(30_000, 2, 5)).toEqual([4, 8, 30, 30]);
});

test('while loads fail the pauses grow, up to eight times that between loads that work', async () => {
  expect(await pauses(30_000, 9, 9)).toEqual([4, 8, 16, 32, 64, 128, 240, 240]);
  expect(await pauses(2_000, 9, 6)).toEqual([4, 8, 16, 16, 16]);
});
