import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { READ_CLASSES, ReadBudget, type ReadClass } from './read-budget.ts';

const config = ReadBudgetConfig.parse({ callsPerMinute: 100, gasPerMinute: 1_000_000_000 });
const SHARES = { worth: 0.8, wanted: 0.1, others: 0.1 };

/** A call tried after a pause; its node answers within so many tries and tells the part of the gas that was used. */
const attempt = fc.record({
  pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
  kind: fc.constantFrom(...READ_CLASSES),
  gas: fc.integer({ min: 1, max: 50_000_000 }),
  used: fc.double({ min: 0, max: 1, noNaN: true }),
  tries: fc.integer({ min: 0, max: 20 }),
});

test('no minute costs more than the share of each class, whenever it is known what calls took', () => {
  fc.assert(
    fc.property(fc.array(attempt, { minLength: 100, maxLength: 300 }), (attempts) => {
      let now = 0;
      const budget = new ReadBudget(config, () => now);
      const paid: { at: number; kind: ReadClass; gas: number }[] = [];
      const open: { due: number; settle: () => void }[] = [];
      for (const [index, { pauseMs, kind, gas, used, tries }] of attempts.entries()) {
        now += pauseMs;
        for (const { due, settle } of open) if (due === index) settle();
        const left = budget.gasLeft(kind);
        const call = budget.pay(kind, gas);
        expect(call !== null).toBe(left >= gas);
        if (!call) continue;
        if (tries === 0) call.settle(gas * used);
        else open.push({ due: index + tries, settle: () => call.settle(gas * used) });
        paid.push({ at: now, kind, gas: gas * used });
      }
      for (const { at: end, kind } of paid) {
        const inMinute = paid.filter((call) => call.kind === kind && call.at > end - 60_000 && call.at <= end);
        expect(inMinute.length).toBeLessThanOrEqual(config.callsPerMinute * SHARES[kind]);
        const gas = inMinute.reduce((sum, call) => sum + call.gas, 0);
        expect(gas).toBeLessThanOrEqual(config.gasPerMinute * SHARES[kind] + 1);
      }
    }),
    { numRuns: 100 },
  );
});

test('a class that takes all it can leaves the others what is theirs', () => {
  let now = 0;
  const budget = new ReadBudget(config, () => now);
  const paidBy = (kind: ReadClass): number => {
    let count = 0;
    for (let call = budget.pay(kind, 1_000_000); call; call = budget.pay(kind, 1_000_000)) {
      call.settle();
      count += 1;
    }
    return count;
  };
  expect([paidBy('others'), paidBy('wanted'), paidBy('worth')]).toEqual([2, 2, 20]);
  expect(budget.spent('worth')).toEqual({ calls: 20, gas: 20_000_000 });
  // Three quarters of a share come back evenly within a minute.
  now = 20_000;
  expect([paidBy('others'), paidBy('wanted'), paidBy('worth')]).toEqual([2, 2, 20]);
  now = 60_001;
  expect(budget.spent('worth')).toEqual({ calls: 20, gas: 20_000_000 });
});

test.each([[{ callsPerMinute: 39 }], [{ gasPerMinute: 599_000_000 }], [{ othersPct: 1 }]])(
  'a budget of %o cannot pay for every read',
  (change) => {
    expect(ReadBudgetConfig.safeParse(change).success).toBe(false);
  },
);
