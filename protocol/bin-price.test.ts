import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceAtCeil, priceAtFloor } from './bin-price.ts';
import { MAX_POSITION } from './pool-state.ts';

describe('price at a position', () => {
  const edges = { lowerX64: 1_000n, upperX64: 2_001n };

  it.each([
    [0n, 1_000n, 1_000n],
    [1n, 1_000n, 1_001n],
    [MAX_POSITION / 2n, 1_500n, 1_501n],
    [MAX_POSITION - 1n, 2_000n, 2_001n],
    [MAX_POSITION, 2_001n, 2_001n],
  ])('%d is between %d and %d', (position, floor, ceil) => {
    expect(priceAtFloor(edges, position)).toBe(floor);
    expect(priceAtCeil(edges, position)).toBe(ceil);
  });

  it('is linear in the position, and rounded by less than one unit', () => {
    const price = fc.bigInt(0n, (1n << 128n) - 1n);
    fc.assert(
      fc.property(price, price, fc.bigInt(0n, MAX_POSITION), (one, other, position) => {
        const [lowerX64, upperX64] = one < other ? [one, other] : [other, one];
        const exact = lowerX64 * (MAX_POSITION - position) + upperX64 * position;
        const between = { lowerX64, upperX64 };
        const [floor, ceil] = [priceAtFloor(between, position), priceAtCeil(between, position)];
        expect(floor * MAX_POSITION <= exact && exact <= ceil * MAX_POSITION && ceil - floor <= 1n).toBe(true);
      }),
    );
  });
});
