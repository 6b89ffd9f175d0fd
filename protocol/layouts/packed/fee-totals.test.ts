import { expect, test } from 'vitest';
import { platformFees } from './fee-totals.ts';

const sums = { sales: { high: 5n, low: 7n }, purchases: { high: 11n, low: 13n } };

test('fees by token need no more, fees by kind the token of the notional fee', () => {
  expect(platformFees('token', null, sums)).toEqual({ token0Scaled: 16n, token1Scaled: 20n });
  expect(platformFees('kind', 'input', sums)).toEqual({ token0Scaled: 12n, token1Scaled: 24n });
  expect(platformFees('kind', 'unspecified', sums)).toBeNull();
  expect(platformFees('kind', null, sums)).toBeNull();
});

test('without notional fees their token does not matter', () => {
  const none = { sales: { high: 5n, low: 0n }, purchases: { high: 11n, low: 0n } };
  expect(platformFees('kind', 'unspecified', none)).toEqual({ token0Scaled: 5n, token1Scaled: 11n });
});
