import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WindowCounter } from './window-counter.ts';

test('a window begins with the first request and ends after its length', () => {
  let now = 1_000;
  const counter = new WindowCounter(10, 100, () => now);
  expect(counter.count('a')).toEqual({ requests: 1, msBeforeNext: 10_000 });
  now += 9_999;
  expect(counter.count('a')).toEqual({ requests: 2, msBeforeNext: 1 });
  now += 1;
  expect(counter.count('a')).toEqual({ requests: 1, msBeforeNext: 10_000 });
});

test('equals a count over the list of all requests', () => {
  const step = fc.record({ client: fc.constantFrom('a', 'b', 'c'), waitMs: fc.integer({ min: 0, max: 1_500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const counter = new WindowCounter(2, 100, () => now);
      const windows = new Map<string, number[]>();
      for (const { client, waitMs } of steps) {
        now += waitMs;
        const open = windows.get(client) ?? [];
        const isOpen = open[0] !== undefined && now - open[0] < 2_000;
        const times = isOpen ? [...open, now] : [now];
        windows.set(client, times);
        expect(counter.count(client)).toEqual({ requests: times.length, msBeforeNext: (times[0] ?? 0) + 2_000 - now });
      }
    }),
  );
});

test('however many clients come, no more than its bound are remembered, and the busy one is not forgotten', () => {
  const counter = new WindowCounter(60, 1_000, () => 0);
  for (let i = 0; i < 50_000; i++) {
    counter.count(`10.0.${i}`);
    if (i % 500 === 0) counter.count('busy');
  }
  expect(counter.size).toBe(1_000);
  expect(counter.count('busy').requests).toBe(101);
});
