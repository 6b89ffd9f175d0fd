import { expect, test } from 'vitest';
import { PassedReads } from './passed-reads.ts';

function readsOf() {
  const clock = { ms: 0 };
  const reads = new PassedReads(() => clock.ms);
  const add = (count: number, hasPassed: boolean) => {
    for (let index = 0; index < count; index += 1) reads.add(hasPassed);
  };
  return { reads, add, clock };
}

test('the operator sees that most reads are passed, from 20 reads on', () => {
  const { reads, add } = readsOf();
  add(19, true);
  expect(reads.warning()).toBeUndefined();
  add(6, false);
  expect(reads.warning()).toContain('in 76% of their reads');
  add(14, false);
  expect(reads.warning()).toBeUndefined();
});

test('reads count for half a minute to a minute', () => {
  const { reads, add, clock } = readsOf();
  add(20, true);
  clock.ms = 59_999;
  expect(reads.warning()).toBeDefined();
  add(1, false);
  clock.ms += 30_000;
  expect(reads.warning()).toBeUndefined();
  add(20, true);
  clock.ms += 60_000;
  expect(reads.warning()).toBeUndefined();
});
