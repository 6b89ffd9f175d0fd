import { expect, test } from 'vitest';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { worthyTokens } from './tokens-to-price.ts';

const pool = (worthUsd: number, token0: string, token1: string) => ({ worthUsd, token0, token1 });

test('tokens of worth are both tokens of the pools that hold the least worth of their chain', () => {
  const chain = { chainId: 5, readBudget: ReadBudgetConfig.parse({ minWorthUsd: 10 }) };
  const pools = [pool(10, '0xaa', '0xbb'), pool(9.99, '0xaa', '0xcc'), pool(0, '0xdd', '0xee')];
  expect(worthyTokens(chain, pools)).toEqual(['5:0xaa', '5:0xbb']);
});
