import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/harness/property-seed.ts';
import { priceAtFloor } from '../../bin-price.ts';
import { E6, Q64 } from '../../fixed-point.ts';
import { cursorEdges, priceFrame, sellAndBuyPrices } from './geometry.ts';
import { poolState, tradableQuote } from './pool-state.fixture.ts';
import { invertPrices } from './quote-inversion.ts';

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

describe('invertPrices', () => {
  it('finds a quote that yields the same exact prices, within the documented bound', () => {
    fc.assert(
      fc.property(poolState, tradableQuote, (state, quote) => {
        const prices = sellAndBuyPrices(state, quote);
        const found = invertPrices(state, prices);
        expect(found && sellAndBuyPrices(state, found)).toEqual(prices);
        if (found === null) return;
        const { midX64 } = priceFrame(quote);
        const cursorX64 = priceAtFloor(cursorEdges(state, midX64), state.cursor.position);
        const bound = 8n * (midX64 / cursorX64 + 1n);
        expect(distance(priceFrame(found).midX64, midX64) <= bound).toBe(true);
        const quoteBound = 2n * bound + (2n * midX64) / Q64;
        expect(distance(found.bidX64, quote.bidX64) <= quoteBound).toBe(true);
        expect(distance(found.askX64, quote.askX64) <= quoteBound).toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });

  it.each([
    ['no sell price', 0n, Q64],
    ['equal prices', Q64, Q64],
    ['crossed prices', 2n * Q64, Q64],
  ])('gives none for %s', (_, sellX64, buyX64) => {
    const [state] = fc.sample(poolState, { numRuns: 1, seed: 1 });
    if (state === undefined) throw new Error('no sample');
    expect(invertPrices(state, { sellX64, buyX64 })).toBeNull();
  });

  it('gives none for prices closer than the fees of the pool let them be', () => {
    const bin = { token0Scaled: 0n, token1Scaled: 0n, lengthE6: 1_000, addFeeBuyE6: 10_000, addFeeSellE6: 10_000 };
    const state = {
      lowestBin: 0,
      highestBin: 0,
      scale: { multiplier0: 1n, multiplier1: 1n },
      pauseLevel: 0,
      cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
      spreadFeeE6: 0,
      notionalFeeE8: 0,
      bins: [bin],
    };
    expect(invertPrices(state, { sellX64: Q64, buyX64: Q64 + (Q64 * 5_000n) / E6 })).toBeNull();
  });
});
