import { expect, test } from 'vitest';
import { WindowLimit } from './window-limit.ts';

test('an amount is taken whole or not at all, and each window has it anew', () => {
  let now = 5;
  const limit = new WindowLimit(10, 1_000, () => now);
  expect([limit.take(6), limit.take(5), limit.take(4), limit.take(1)]).toEqual([0, 1_000, 0, 1_000]);
  now = 1_004;
  expect(limit.take(1)).toBe(1);
  now = 1_005;
  expect([limit.take(11), limit.take(10)]).toEqual([1_000, 0]);
});
