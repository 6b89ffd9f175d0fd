import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';

test('an amount is taken whole or not at all, and each window has it anew', () => {
  let now = 5;
  const allowance = new Allowance(10, 1_000, () => now);
  expect([allowance.take(6), allowance.take(5), allowance.take(4), allowance.take(1)]).toEqual([0, 1_000, 0, 1_000]);
  now = 1_004;
  expect(allowance.take(1)).toBe(1);
  now = 1_005;
  expect([allowance.take(11), allowance.take(10)]).toEqual([1_000, 0]);
});
