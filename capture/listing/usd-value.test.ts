import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumKnown, toDollars, toPriceE18, usdValueFloor } from './usd-value.ts';

test.each([
  [1, 10n ** 18n],
  [3500.5, 3_500_500_000_000_000_000_000n],
  [0, 0n],
  [1e-18, 1n],
  [1e-19, 0n],
  [1e21, 10n ** 39n],
  [2 ** 100, 2n ** 100n * 10n ** 18n],
])('a price of %d dollars', (usd, expected) => {
  expect(toPriceE18(usd)).toBe(expected);
});

test.each([
  ['one whole token of 6 decimals', 1_000_000n, 6, 2.5, 2.5],
  ['no decimals', 3n, 0, 2, 6],
  ['less than a millionth is cut', 1n, 6, 0.5, 0],
  ['77 decimals', 10n ** 77n, 77, 1, 1],
])('%s', (_name, amount, decimals, usd, dollars) => {
  expect(toDollars(usdValueFloor(amount, decimals, toPriceE18(usd)))).toBe(dollars);
});

test('a value is the product, rounded down by less than one unit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.integer({ min: 0, max: 36 }),
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      (amount, decimals, price) => {
        const value = usdValueFloor(amount, decimals, price);
        const unit = 10n ** BigInt(decimals);
        expect(value * unit <= amount * price).toBe(true);
        expect((value + 1n) * unit > amount * price).toBe(true);
      },
    ),
  );
});

test('one unknown value makes a sum unknown', () => {
  expect(sumKnown([1n, 2n])).toBe(3n);
  expect(sumKnown([1n, null])).toBeNull();
});
