import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenScale, toRawCeil, toRawFloor, toScaled } from './scaling.ts';

describe('tokenScale', () => {
  it.each([
    [18, 18, 1n, 1n],
    [18, 6, 1n, 10n ** 12n],
    [6, 18, 10n ** 12n, 1n],
    [8, 6, 10n ** 10n, 10n ** 12n],
    [0, 18, 10n ** 18n, 1n],
    [24, 6, 1n, 10n ** 18n],
    [6, 24, 10n ** 18n, 1n],
  ])('of %d and %d decimals', (decimals0, decimals1, multiplier0, multiplier1) => {
    expect(tokenScale(decimals0, decimals1)).toEqual({ multiplier0, multiplier1 });
  });
});

describe('raw and scaled units', () => {
  const multiplier = fc.integer({ min: 0, max: 24 }).map((exponent) => 10n ** BigInt(exponent));

  it('come back unchanged when nothing is lost', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 1n << 128n), multiplier, (raw, by) => {
        expect(toRawFloor(toScaled(raw, by), by)).toBe(raw);
        expect(toRawCeil(toScaled(raw, by), by)).toBe(raw);
      }),
    );
  });

  it('round out of the pool down and into the pool up, by less than one unit', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 1n << 128n), multiplier, (scaled, by) => {
        const floor = toRawFloor(scaled, by);
        const ceil = toRawCeil(scaled, by);
        expect(floor * by <= scaled && (floor + 1n) * by > scaled).toBe(true);
        expect(ceil * by >= scaled && (ceil - 1n) * by < scaled).toBe(true);
      }),
    );
  });
});
