import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Alarm } from './alarm.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});

afterEach(() => {
  vi.useRealTimers();
});

test('an alarm rings once, at the time that was set last', () => {
  const rings: number[] = [];
  const alarm = new Alarm(() => rings.push(Date.now()));
  alarm.set(50, 0);
  alarm.set(100, 0);
  vi.advanceTimersByTime(60);
  alarm.set(100, 60);
  vi.advanceTimersByTime(1_000);
  expect(rings).toEqual([100]);
  alarm.set(100, Date.now());
  vi.advanceTimersByTime(1_000);
  expect(rings).toEqual([100, 1_060]);
});

test.each([null, Number.POSITIVE_INFINITY])('an alarm that is set to %s has no timer', (never) => {
  const alarm = new Alarm(() => expect.unreachable());
  alarm.set(50, 0);
  alarm.set(never, 0);
  expect(vi.getTimerCount()).toBe(0);
});
