import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/harness/property-seed.ts';
import { E6, E8, Q64 } from '../../fixed-point.ts';
import { binAt, MAX_POSITION, type PoolState } from '../../pool-state.ts';
import { tokenScale } from '../../scaling.ts';
import { binEdges, edgeDistancesE6, edgePriceFloor } from '../ladder.ts';
import { isTradableQuote, priceFrame, pricePool, sellAndBuyPrices } from './geometry.ts';
import { poolState, pricedPool, tradableQuote } from './pool-state.fixture.ts';

const BIN = { token0Scaled: 0n, token1Scaled: 0n, lengthE6: 1_000, addFeeBuyE6: 0, addFeeSellE6: 0 };

function stateWith(overrides: Partial<PoolState>): PoolState {
  return {
    lowestBin: -2,
    highestBin: 1,
    scale: tokenScale(18, 18),
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
    spreadFeeE6: 0,
    notionalFeeE8: 0,
    bins: [{ ...BIN, lengthE6: 4_000 }, { ...BIN, lengthE6: 3_000 }, BIN, { ...BIN, lengthE6: 2_000 }],
    ...overrides,
  };
}

describe('priceFrame', () => {
  it('takes the geometric mean as mid and the distance to the ask as base fee', () => {
    // sqrt(4 * 9) = 6, 9 / 6 = 1.5
    expect(priceFrame({ bidX64: 4n * Q64, askX64: 9n * Q64 })).toEqual({ midX64: 6n * Q64, baseFeeX64: Q64 / 2n });
  });

  it.each([
    ['zero bid', 0n, 1n],
    ['bid equal to ask', 5n, 5n],
    ['bid above ask', 6n, 5n],
  ])('refuses a %s', (_, bidX64, askX64) => {
    expect(isTradableQuote({ bidX64, askX64 })).toBe(false);
    expect(() => priceFrame({ bidX64, askX64 })).toThrow(RangeError);
  });

  it('keeps mid between bid and ask and mid with the fee at or above the ask, by less than one unit of each', () => {
    fc.assert(
      fc.property(tradableQuote, (quote) => {
        const { midX64, baseFeeX64 } = priceFrame(quote);
        expect(quote.bidX64 <= midX64 && midX64 < quote.askX64).toBe(true);
        const askAgain = midX64 * (Q64 + baseFeeX64);
        expect(askAgain >= quote.askX64 * Q64 && askAgain - quote.askX64 * Q64 < midX64).toBe(true);
      }),
    );
  });
});

describe('edges', () => {
  it('lie at the running sums of the lengths, up and down from the cursor', () => {
    const at = (bin: number, lowerDistE6: number) => stateWith({ cursor: { bin, position: 0n, lowerDistE6 } });
    expect(edgeDistancesE6(at(0, 0))).toEqual([-7_000, -3_000, 0, 1_000, 3_000]);
    expect(edgeDistancesE6(at(-2, 500))).toEqual([500, 4_500, 7_500, 8_500, 10_500]);
    expect(edgeDistancesE6(at(1, -200))).toEqual([-8_200, -4_200, -1_200, -200, 1_800]);
  });

  it('are the same wherever the cursor stands, when its distance moves along', () => {
    fc.assert(
      fc.property(poolState, fc.nat(), (state, pick) => {
        const distances = edgeDistancesE6(state);
        const index = pick % state.bins.length;
        const cursor = { bin: state.lowestBin + index, position: 0n, lowerDistE6: distances[index] ?? 0 };
        expect(edgeDistancesE6({ ...state, cursor })).toEqual(distances);
      }),
    );
  });

  it.each([
    [0, 1_000_000n],
    [1, 1_000_001n],
    [-1, 999_999n],
    [-999_999, 1n],
    [-1_000_000, 0n],
    [-1_000_001, 0n],
    [1_000_000, 2_000_000n],
  ])('%d millionths from a mid of a million cost %d', (distE6, price) => {
    expect(edgePriceFloor(1_000_000n, distE6)).toBe(price);
  });

  it('belong to one bin each, and to none outside the pool', () => {
    const priced = pricePool(stateWith({}), { bidX64: 1_000_000n, askX64: 1_000_001n });
    expect(binEdges(priced, -2)).toEqual({ lowerX64: 993_000n, upperX64: 997_000n });
    expect(binEdges(priced, 1)).toEqual({ lowerX64: 1_001_000n, upperX64: 1_003_000n });
    expect(() => binEdges(priced, 2)).toThrow(RangeError);
    expect(() => binEdges(priced, -3)).toThrow(RangeError);
    expect(() => binAt(priced.state, 2)).toThrow(RangeError);
  });
});

describe('sellAndBuyPrices', () => {
  it('adds the base fee, the bin fees and the notional fee, as worked out by hand', () => {
    // mid 6, base fee 50%; cursor half-way (to rounding) through a bin from 6 to 6.6; buy fee 1%, sell fee 2%,
    // notional 10%.
    const state = stateWith({
      lowestBin: 0,
      highestBin: 0,
      cursor: { bin: 0, position: MAX_POSITION / 2n, lowerDistE6: 0 },
      notionalFeeE8: 10_000_000,
      bins: [{ ...BIN, lengthE6: 100_000 - 34_465, addFeeBuyE6: 10_000, addFeeSellE6: 20_000 }],
    });
    const { sellX64, buyX64 } = sellAndBuyPrices(state, { bidX64: 4n * Q64, askX64: 9n * Q64 });
    const marginal = 6 * (1 + 0.065535 / 2);
    expect(Number(buyX64) / 2 ** 64).toBeCloseTo((marginal * 1.51) / 0.9, 12);
    expect(Number(sellX64) / 2 ** 64).toBeCloseTo((marginal / 1.52) * 0.9, 12);
  });

  it('equals exact fractions up to the roundings of each step', () => {
    fc.assert(
      fc.property(pricedPool, tradableQuote, ({ state }, quote) => {
        const { midX64, baseFeeX64 } = priceFrame(quote);
        const { sellX64, buyX64 } = sellAndBuyPrices(state, quote);
        const exact = exactMarginal(state, midX64);
        const bin = binAt(state, state.cursor.bin);
        const kept = E8 - BigInt(state.notionalFeeE8);
        // As fractions: buy = marginal * (1 + base + add) / kept, sell = marginal / (1 + base + add) * kept.
        const buy = {
          num: exact.num * (E6 * (Q64 + baseFeeX64) + BigInt(bin.addFeeBuyE6) * Q64) * E8,
          den: exact.den * E6 * Q64 * kept,
        };
        const sell = {
          num: exact.num * E6 * Q64 * kept,
          den: exact.den * (E6 * (Q64 + baseFeeX64) + BigInt(bin.addFeeSellE6) * Q64) * E8,
        };
        // Edges, marginal price and both fees round by a unit each; the floor of a bin's fee costs price / 2^64 more.
        expect(distance(buyX64, buy) <= 6n + (2n * buyX64) / Q64).toBe(true);
        expect(distance(sellX64, sell) <= 6n + (2n * sellX64) / Q64).toBe(true);
        expect(sellX64 <= buyX64).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });
});

interface Fraction {
  readonly num: bigint;
  readonly den: bigint;
}

/** The price at the cursor without any rounding. */
function exactMarginal(state: PoolState, midX64: bigint): Fraction {
  const { lowerDistE6, position, bin } = state.cursor;
  const lengthE6 = BigInt(binAt(state, bin).lengthE6);
  return {
    num: midX64 * ((E6 + BigInt(lowerDistE6)) * MAX_POSITION + lengthE6 * position),
    den: E6 * MAX_POSITION,
  };
}

function distance(value: bigint, { num, den }: Fraction): bigint {
  const difference = value * den - num;
  return (difference < 0n ? -difference : difference) / den;
}
