import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { humanPrice, priceOfX64, rawUnits, spreadBps, wholeTokens, worstCase } from './quantities.ts';

test('a closed side has no price', () => {
  expect([priceOfX64('0'), priceOfX64(String(2n ** 128n - 1n))]).toEqual([null, null]);
  expect(priceOfX64(String(3n << 63n))).toBe(1.5);
  expect(spreadBps(null, 1)).toBeNull();
  expect(spreadBps(99.5, 100.5)).toBeCloseTo(100, 9);
});

test.each([
  [0n, 6, '0'],
  [1n, 6, '0.000001'],
  [1_500_000n, 6, '1.5'],
  [-1_500_000n, 6, '-1.5'],
  [12n, 0, '12'],
  [10n ** 30n + 1n, 18, '1000000000000.000000000000000001'],
])('%i raw units of %i decimals are %s', (raw, decimals, text) => {
  expect(wholeTokens(raw, decimals)).toBe(text);
});

test('what is shown is read back exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n }), fc.integer({ min: 0, max: 30 }), (raw, decimals) => {
      expect(rawUnits(wholeTokens(raw, decimals), decimals)).toBe(raw);
    }),
  );
});

test.each(['', '.', '0', '0.0', '-1', '1e3', '1.2345678', 'x', '1.2.3', '1,5', ' 1'])(
  '"%s" is no amount of 6 decimals',
  (text) => {
    expect(rawUnits(text, 6)).toBeNull();
  },
);

test.each([
  ['1234.5', 1_234_500_000n],
  ['.5', 500_000n],
])('"%s" is an amount', (text, raw) => {
  expect(rawUnits(text, 6)).toBe(raw);
});

describe('the worst case', () => {
  test.each([
    ['exact_in', 10_000n, 50, 9_950n],
    ['exact_in', 10_001n, 50, 9_951n],
    ['exact_out', 10_001n, 50, 10_051n],
    ['exact_out', 7n, 0, 7n],
  ] as const)('of %s of %i with %i bps is %i', (type, computed, slippage, worst) => {
    expect(worstCase(type, computed, slippage)).toBe(worst);
  });
});

test('a price in raw units becomes one of whole tokens', () => {
  // 2,000 USDC (6 decimals) for a WETH (18).
  expect(humanPrice(String((2_000n * 10n ** 6n * 2n ** 64n) / 10n ** 18n), 18, 6)).toBeCloseTo(2_000, 4);
});
