import { expect, test } from 'vitest';
import { fundedTokens } from './tokens-to-price.ts';

const pool = (isFunded: boolean, token0: string, token1: string) => ({ isFunded, token0, token1 }) as const;

test('funded tokens are both tokens of the funded pools of a chain', () => {
  const pools = [pool(true, '0xaa', '0xbb'), pool(false, '0xaa', '0xcc'), pool(false, '0xdd', '0xee')];
  expect(fundedTokens({ chainId: 5 }, pools as never)).toEqual(['5:0xaa', '5:0xbb']);
});
