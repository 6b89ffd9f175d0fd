import { expect, test } from 'vitest';
import { usualAmount } from './route-order.ts';

test.each([
  [18, 3_000, '1'],
  [18, 3_500, '0.1'],
  [8, 98_000, '0.01'],
  [6, 1, '1000'],
  [18, 0.25, '10000'],
  [18, null, '1'],
  [2, 4_000_000, '0.01'],
] as const)(
  'of a token with %i decimals and a price of %s US dollars, %s is asked for at first',
  (decimals, usd, text) => {
    expect(usualAmount({ address: '0x', symbol: null, color: null, decimals }, usd)).toBe(text);
  },
);
