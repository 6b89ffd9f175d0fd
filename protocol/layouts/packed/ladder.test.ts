import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { E6, Q64 } from '../../fixed-point.ts';
import { binAt } from '../../pool-state.ts';
import { binEdges, edgeDistancesE6, edgePriceFloor, pricePool } from '../ladder.ts';
import { baseFeeX64 } from './formulas.ts';
import { pricedPool } from './pool-state.fixture.ts';
import { isTradableQuote } from './quote.ts';

describe('edges of bins', () => {
  test.each([
    [0, Q64, 0n, Q64],
    [0, Q64, 10_000n, (Q64 * 101n) / 100n],
    [-5_000, 3n, 0n, 2n],
    [-1_000_000, Q64, 500n, (Q64 * 500n) / E6],
  ])('of a bin at %s around %s with length %s: %s', (distE6, referenceX64, lengthE6, expected) => {
    expect(edgePriceFloor(referenceX64, distE6 + Number(lengthE6))).toBe(expected);
  });

  it('meet: a bin begins where the last one ends, the current one at the distance that the cursor reports', () => {
    fc.assert(
      fc.property(pricedPool, (priced) => {
        const { state, quote } = priced;
        const { lowestBin, highestBin, cursor } = state;
        const distances = edgeDistancesE6(state);
        expect(distances[cursor.bin - lowestBin]).toBe(cursor.lowerDistE6);
        for (let bin = lowestBin; bin <= highestBin; bin++) {
          const [lower = 0, upper = 0] = distances.slice(bin - lowestBin);
          expect(upper - lower).toBe(binAt(state, bin).lengthE6);
          expect(binEdges(priced, bin)).toEqual({
            lowerX64: (quote.referenceX64 * BigInt(1_000_000 + lower)) / E6,
            upperX64: (quote.referenceX64 * BigInt(1_000_000 + upper)) / E6,
          });
        }
        expect(() => binEdges(priced, highestBin + 1)).toThrow(RangeError);
      }),
    );
  });

  it('are at no price where the distance is a whole reference below', () => {
    fc.assert(
      fc.property(pricedPool, ({ state, quote }) => {
        const cursor = { ...state.cursor, lowerDistE6: -1_000_001 };
        const { edgesX64 } = pricePool({ ...state, cursor }, quote);
        expect(edgesX64[state.cursor.bin - state.lowestBin]).toBe(0n);
      }),
    );
  });
});

describe('a quote', () => {
  test.each([
    [1n, 1n, 1n, true],
    [1n, 3n, 2n, true],
    [0n, 3n, 2n, false],
    [2n, 3n, 1n, false],
    [2n, 3n, 4n, false],
    [3n, 2n, 3n, false],
  ])('of %s, %s and %s: tradable is %s', (bidX64, askX64, referenceX64, tradable) => {
    expect(isTradableQuote({ bidX64, askX64, referenceX64 })).toBe(tradable);
  });

  it('costs a side the distance from its reference, rounded up', () => {
    const quote = { bidX64: 99n, askX64: 101n, referenceX64: 100n };
    expect(baseFeeX64(quote, false)).toBe(Q64 / 100n + 1n);
    expect(baseFeeX64(quote, true)).toBe(Q64 / 99n + 1n);
    expect(baseFeeX64({ bidX64: 7n, askX64: 7n, referenceX64: 7n }, true)).toBe(0n);
  });
});
