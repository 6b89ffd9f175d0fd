import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import {
  divCeil,
  isqrtFloor,
  MAX_UINT256,
  maxBigint,
  minBigint,
  mulDivCeil,
  mulDivFloor,
  Q128,
  shiftRightCeil,
} from './fixed-point.ts';

const natural = fc.bigInt(0n, MAX_UINT256);
const positive = fc.bigInt(1n, MAX_UINT256);

describe('divCeil', () => {
  it.each([
    [0n, 7n, 0n],
    [1n, 7n, 1n],
    [7n, 7n, 1n],
    [8n, 7n, 2n],
    [MAX_UINT256, 1n, MAX_UINT256],
    [MAX_UINT256, MAX_UINT256 - 1n, 2n],
  ])('ceil(%d / %d) = %d', (a, b, expected) => {
    expect(divCeil(a, b)).toBe(expected);
  });

  it('is the least quotient whose product covers the dividend', () => {
    fc.assert(
      fc.property(natural, positive, (a, b) => {
        const quotient = divCeil(a, b);
        expect(quotient * b >= a && (quotient - 1n) * b < a).toBe(true);
      }),
    );
  });

  it('refuses to divide by zero', () => {
    expect(() => divCeil(1n, 0n)).toThrow(RangeError);
  });
});

describe('mulDiv', () => {
  it.each([
    [3n, 5n, 4n, 3n, 4n],
    [4n, 5n, 4n, 5n, 5n],
    [MAX_UINT256, MAX_UINT256, MAX_UINT256, MAX_UINT256, MAX_UINT256],
    [0n, 5n, 9n, 0n, 0n],
  ])('%d * %d / %d lies between %d and %d', (a, b, denominator, floor, ceil) => {
    expect(mulDivFloor(a, b, denominator)).toBe(floor);
    expect(mulDivCeil(a, b, denominator)).toBe(ceil);
  });
});

describe('shiftRightCeil', () => {
  it('equals a division by the power of two, rounded up', () => {
    fc.assert(
      fc.property(natural, fc.integer({ min: 0, max: 200 }), (a, bits) => {
        expect(shiftRightCeil(a, BigInt(bits))).toBe(divCeil(a, 2n ** BigInt(bits)));
      }),
    );
  });
});

describe('isqrtFloor', () => {
  it.each([
    [0n, 0n],
    [1n, 1n],
    [3n, 1n],
    [4n, 2n],
    [8n, 2n],
    [9n, 3n],
    [Q128 - 1n, 2n ** 64n - 1n],
    [Q128, 2n ** 64n],
    [MAX_UINT256, Q128 - 1n],
  ])('of %d is %d', (n, root) => {
    expect(isqrtFloor(n)).toBe(root);
  });

  it('is the greatest root whose square does not exceed the number', () => {
    const anyMagnitude = fc.nat({ max: 512 }).chain((bits) => fc.bigInt(0n, 1n << BigInt(bits)));
    fc.assert(
      fc.property(anyMagnitude, (n) => {
        const root = isqrtFloor(n);
        expect(root * root <= n && (root + 1n) * (root + 1n) > n).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  it('is exact around perfect squares', () => {
    fc.assert(
      fc.property(fc.bigInt(2n, Q128), (root) => {
        expect([root * root - 1n, root * root, root * root + 1n].map(isqrtFloor)).toEqual([root - 1n, root, root]);
      }),
    );
  });

  it('refuses negative numbers', () => {
    expect(() => isqrtFloor(-1n)).toThrow(RangeError);
  });
});

it('picks the lesser and the greater of two', () => {
  expect([minBigint(-1n, 2n), minBigint(2n, -1n), maxBigint(-1n, 2n), maxBigint(2n, -1n)]).toEqual([-1n, -1n, 2n, 2n]);
});
