import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { clientLimit } from './rate-window.ts';

test('a window begins with the first request and ends after its length', () => {
  let now = 1_000;
  const take = clientLimit({ requests: 2, windowSecs: 10 }, () => now);
  expect(take('a')).toEqual({ rejected: false, remaining: 1, msBeforeNext: 10_000 });
  now += 9_999;
  expect(take('a')).toEqual({ rejected: false, remaining: 0, msBeforeNext: 1 });
  expect(take('a')).toEqual({ rejected: true, remaining: 0, msBeforeNext: 1 });
  now += 1;
  expect(take('a')).toEqual({ rejected: false, remaining: 1, msBeforeNext: 10_000 });
});

test('a machine whose clock is set back an hour locks no client out for that hour', () => {
  vi.useFakeTimers();
  try {
    const take = clientLimit({ requests: 1, windowSecs: 10 });
    expect([take('a').rejected, take('a').rejected]).toEqual([false, true]);
    vi.advanceTimersByTime(10_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(take('a').rejected).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('equals a count over the list of all requests', () => {
  const requests = 3;
  const step = fc.record({ client: fc.constantFrom('a', 'b', 'c'), waitMs: fc.integer({ min: 0, max: 1_500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const take = clientLimit({ requests, windowSecs: 2 }, () => now);
      const windows = new Map<string, number[]>();
      for (const { client, waitMs } of steps) {
        now += waitMs;
        const open = windows.get(client) ?? [];
        const isOpen = open[0] !== undefined && now - open[0] < 2_000;
        const times = isOpen ? [...open, now] : [now];
        windows.set(client, times);
        expect(take(client)).toEqual({
          rejected: times.length > requests,
          remaining: Math.max(0, requests - times.length),
          msBeforeNext: (times[0] ?? 0) + 2_000 - now,
        });
      }
    }),
  );
});

test('however many clients come, no more than its bound are remembered, and the busy one is not forgotten', () => {
  const take = clientLimit({ requests: 102, windowSecs: 60 }, () => 0, 1_000);
  for (let i = 0; i < 50_000; i++) {
    take(`10.0.${i}`);
    if (i % 500 === 0) take('busy');
  }
  expect(take('busy').remaining).toBe(1);
  // Remembered are the busy one and 999 others: those that came before start again.
  expect(['10.0.49001', '10.0.49000'].map((client) => take(client).remaining)).toEqual([100, 101]);
});
