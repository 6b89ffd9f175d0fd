import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertEqual } from '../../test/harness/assert-equal.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { CallBudget, READ_CLASSES, type ReadClass } from './call-budget.ts';

const attempt = fc.record({
  pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
  kind: fc.constantFrom(...READ_CLASSES),
  times: fc.integer({ min: 1, max: 30 }),
});

/** Takes all that a class can have. @returns number of calls */
function drain(budget: CallBudget, kind: ReadClass): number {
  let calls = 0;
  while (budget.reserve(kind)) calls += 1;
  return calls;
}

test('no minute has more calls than the budget, whoever takes them when', () => {
  const perMinute = fc.integer({ min: 20, max: 1_000 });
  const attempts = fc.array(attempt, { minLength: 50, maxLength: 200 });
  fc.assert(
    fc.property(perMinute, fc.constantFrom(READ_CLASSES, READ_CLASSES.slice(1)), attempts, (most, classes, list) => {
      let now = 0;
      const budget = new CallBudget(most, classes, () => now);
      const made: number[] = [];
      for (const { pauseMs, kind, times } of list) {
        now += pauseMs;
        for (let count = 0; count < times; count++) {
          const left = budget.saved(kind) + budget.spare(kind);
          const isReserved = budget.reserve(kind);
          assertEqual(isReserved, left >= 1);
          if (isReserved) made.push(now);
        }
      }
      for (const end of made) {
        assertEqual(made.filter((at) => at > end - 60_000 && at <= end).length <= most, true);
      }
    }),
    { numRuns: runs(20) },
  );
});

test('a lower class keeps its tenth while the first takes all it can, and the first half of what it saves', () => {
  let now = 0;
  const budget = new CallBudget(720, READ_CLASSES, () => now);
  let remaining = 0;
  for (now = 0; now < 600_000; now += 1_000) {
    drain(budget, 'keyed');
    remaining += drain(budget, 'remaining');
  }
  // A tenth, of which a quarter is saved for bursts.
  expect(remaining / 10).toBeGreaterThanOrEqual(720 * 0.1 * 0.75);
  now += 120_000;
  for (const kind of ['remaining', 'funded'] as const) drain(budget, kind);
  expect(drain(budget, 'keyed')).toBeGreaterThanOrEqual(budget.burst('keyed'));
  expect(budget.burst('keyed')).toBe(72);
  expect(budget.spent('keyed')).toBe(72);
});

test('each class can save the calls of a read of any pool', () => {
  for (const most of [120, 240, 720]) {
    const budget = new CallBudget(most, READ_CLASSES, () => 0);
    for (const kind of READ_CLASSES) expect(budget.burst(kind)).toBeGreaterThanOrEqual(9);
  }
});
