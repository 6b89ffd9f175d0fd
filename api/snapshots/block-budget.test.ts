import { expect, test } from 'vitest';
import { BlockBudget } from './block-budget.ts';

test('each block has its own places, and no more', () => {
  const budget = new BlockBudget(2);
  const at = (hash: `0x${string}`) => budget.take({ number: 1n, timestamp: 1n, hash });
  expect([at('0x1'), at('0x1'), at('0x1')]).toEqual([true, true, false]);
  expect([at('0x2'), at('0x2'), at('0x2')]).toEqual([true, true, false]);
  expect(new BlockBudget(0).take({ number: 1n, timestamp: 1n, hash: '0x1' })).toBe(false);
});
