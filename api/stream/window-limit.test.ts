import { expect, test } from 'vitest';
import { windowLimit } from './window-limit.ts';

test('an amount is used whole or not at all, and each window has it again', () => {
  let now = 5;
  const use = windowLimit(10, 1_000, () => now);
  expect([use(6), use(5), use(4), use(1)]).toEqual([0, 1_000, 0, 1_000]);
  now = 1_004;
  expect(use(1)).toBe(1);
  now = 1_005;
  expect([use(11), use(10)]).toEqual([1_000, 0]);
});
