import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quotientFloor } from './numbers.ts';

test.each([
  [0n, 7n, 0],
  [1n, 3n, 0.333333333333333],
  [2n, 3n, 0.666666666666666],
  [10n, 1n, 10],
  [999_999_999_999_999_9n, 10n, 999_999_999_999_999],
  [123_456_789_012_345_678n, 1n, 123_456_789_012_345_000],
  [1n, 10n ** 30n, 1e-30],
  [10n ** 60n, 1n, 1e60],
])('%s / %s is %s', (numerator, denominator, quotient) => {
  expect(quotientFloor(numerator, denominator)).toBe(quotient);
});

test('a quotient has 15 digits and is at most one in the last of them too low', () => {
  const amount = fc.bigInt(1n, 10n ** 80n);
  fc.assert(
    fc.property(amount, amount, (numerator, denominator) => {
      const [digits = '', exponent = ''] = quotientFloor(numerator, denominator).toExponential(14).split('e');
      const mantissa = BigInt(digits.replace('.', ''));
      const power = BigInt(exponent) - 14n;
      // mantissa * 10^power <= numerator / denominator < (mantissa + 1) * 10^power
      const [left, right] = power < 0n ? [10n ** -power, 1n] : [1n, 10n ** power];
      expect(mantissa * denominator * right <= numerator * left).toBe(true);
      expect((mantissa + 1n) * denominator * right > numerator * left).toBe(true);
    }),
  );
});
