import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levelAtOutput } from '../../../test/protocol/flat-level.ts';
import { computeSwap } from '../../../test/protocol/flat-swap.ts';
import type { DepthLevel } from '../../depth.ts';
import { E6 } from '../../fixed-point.ts';
import { MAX_POSITION } from '../../pool-state.ts';
import { levelAtInput } from '../side-amounts.ts';
import { pricePool, sellAndBuyPrices, sideCurve, walkSides } from './geometry.ts';
import { poolState, pricedPool, tradableQuote, tradeAmount } from './pool-state.fixture.ts';

const direction = fc.boolean();

describe('levels', () => {
  it('list every bin from the current one to the last, outwards', () => {
    fc.assert(
      fc.property(pricedPool, (priced) => {
        const { lowestBin, highestBin, cursor } = priced.state;
        const { bids, asks } = walkSides(priced);
        const count = highestBin - lowestBin + 1;
        const all = Array.from({ length: count }, (_, index) => lowestBin + index);
        expect(bids.levels.map(({ bin }) => bin)).toEqual(all.filter((bin) => bin <= cursor.bin).reverse());
        expect(asks.levels.map(({ bin }) => bin)).toEqual(all.filter((bin) => bin >= cursor.bin));
      }),
    );
  });

  it('are what the pool takes and gives for exactly their input, and less input gives no more', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        for (const level of sideCurve(priced, zeroForOne).levels) {
          const swap = (amount: bigint) => computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });
          const { amountIn, amountOut } = swap(level.cumulativeInput);
          expect(amountIn).toBe(level.cumulativeInput);
          expect(amountOut >= level.cumulativeOutput).toBe(true);
          const less = level.cumulativeInput - 2n;
          if (less > 0n) expect(swap(less).amountOut <= level.cumulativeOutput).toBe(true);
        }
      }),
    );
  });

  it('end at all that the pool gives', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        const last = sideCurve(priced, zeroForOne).levels.at(-1);
        const everything = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: 1n << 300n });
        expect(last?.cumulativeOutput).toBe(everything.amountOut);
        expect(last?.cumulativeInput).toBe(everything.amountIn);
      }),
    );
  });

  it('price their far edge as the pool would, standing there with the fees of the bin', () => {
    fc.assert(
      fc.property(poolState, tradableQuote, direction, (state, quote, zeroForOne) => {
        const { levels } = sideCurve(pricePool(state, quote), zeroForOne);
        let lowerDistE6 = state.cursor.lowerDistE6;
        const lengthOf = (bin: number) => state.bins[bin - state.lowestBin]?.lengthE6 ?? 0;
        for (const level of levels) {
          if (level.bin !== state.cursor.bin)
            lowerDistE6 += zeroForOne ? -lengthOf(level.bin) : lengthOf(level.bin - 1);
          const cursor = { bin: level.bin, position: zeroForOne ? 0n : MAX_POSITION, lowerDistE6 };
          const prices = sellAndBuyPrices({ ...state, cursor }, quote);
          expect(level.priceX64).toBe(zeroForOne ? prices.sellX64 : prices.buyX64);
        }
      }),
    );
  });

  it('measure the distance of their price from the best price, in millionths', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        const { sellX64, buyX64 } = sellAndBuyPrices(priced.state, priced.quote);
        const best = zeroForOne ? sellX64 : buyX64;
        const { bestX64, levels } = sideCurve(priced, zeroForOne);
        expect(bestX64).toBe(best);
        for (const { priceX64, priceImpactE6 } of levels) {
          const distance = priceX64 > best ? priceX64 - best : best - priceX64;
          expect(priceImpactE6 * best <= distance * E6 && (priceImpactE6 + 1n) * best > distance * E6).toBe(true);
        }
      }),
    );
  });

  it('repeat the amounts of the level before for a bin that holds nothing', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        const { levels, steps } = sideCurve(priced, zeroForOne);
        steps.forEach(({ slice }, index) => {
          if (slice.available > 0n) return;
          const before = levels[index - 1] ?? { cumulativeInput: 0n, cumulativeOutput: 0n };
          expect(amountsOf(levels[index])).toEqual(amountsOf(before));
        });
      }),
    );
  });

  it('of an empty pool are there, with zero volumes', () => {
    fc.assert(
      fc.property(poolState, tradableQuote, (state, quote) => {
        const bins = state.bins.map((bin) => ({ ...bin, token0Scaled: 0n, token1Scaled: 0n }));
        const { bids, asks } = walkSides(pricePool({ ...state, bins }, quote));
        expect(bids.levels.length + asks.levels.length).toBe(bins.length + 1);
        for (const level of [...bids.levels, ...asks.levels]) {
          expect(amountsOf(level)).toEqual({ cumulativeInput: 0n, cumulativeOutput: 0n });
        }
      }),
    );
  });
});

describe('a stop inside a bin', () => {
  it('after an input has the amounts of a swap of that input', () => {
    fc.assert(
      fc.property(pricedPool, direction, tradeAmount, (priced, zeroForOne, amount) => {
        const level = levelAtInput(sideCurve(priced, zeroForOne), amount);
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });
        expect(level && amountsOf(level)).toEqual({ cumulativeInput: swap.amountIn, cumulativeOutput: swap.amountOut });
      }),
    );
  });

  it('after an output costs what the pool takes for it, and lies between the levels around it', () => {
    const part = fc.bigInt(0n, E6);
    fc.assert(
      fc.property(pricedPool, direction, fc.nat(), part, (priced, zeroForOne, pick, partE6) => {
        const curve = sideCurve(priced, zeroForOne);
        const index = pick % curve.steps.length;
        const step = curve.steps[index];
        const end = curve.levels[index];
        if (step === undefined || end === undefined) throw new Error('a side without bins');
        const level = levelAtOutput(curve, step, (step.slice.available * partE6) / E6);
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: level.cumulativeInput });
        expect(swap.amountIn).toBe(level.cumulativeInput);
        expect(swap.amountOut >= level.cumulativeOutput).toBe(true);
        expect(level.cumulativeOutput <= end.cumulativeOutput && level.cumulativeInput <= end.cumulativeInput).toBe(
          true,
        );
        const before = curve.levels[index - 1];
        if (before !== undefined) {
          expect(
            level.cumulativeOutput >= before.cumulativeOutput && level.cumulativeInput >= before.cumulativeInput,
          ).toBe(true);
        }
        expect(zeroForOne ? level.priceX64 >= end.priceX64 : level.priceX64 <= end.priceX64).toBe(true);
      }),
    );
  });

  it('at the whole of a bin is the level of the bin', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        const curve = sideCurve(priced, zeroForOne);
        const stops = curve.steps.map((step) => levelAtOutput(curve, step, step.slice.available));
        expect(stops).toEqual(curve.levels);
      }),
    );
  });
});

it('ends a side where prices reach zero', () => {
  const bin = { token0Scaled: 0n, token1Scaled: 10n, lengthE6: 60_000, addFeeBuyE6: 0, addFeeSellE6: 0 };
  const state = {
    lowestBin: -20,
    highestBin: 0,
    scale: { multiplier0: 1n, multiplier1: 1n },
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
    spreadFeeE6: 0,
    notionalFeeE8: 0,
    bins: Array.from({ length: 21 }, () => bin),
  };
  const quote = { bidX64: 1n << 64n, askX64: (1n << 64n) + 1n };
  const priced = pricePool(state, quote);
  // 16 bins of 6% fit below the mid price; the seventeenth would end below zero.
  expect(sideCurve(priced, true).levels.at(-1)?.bin).toBe(-16);
  const worthless = pricePool({ ...state, cursor: { ...state.cursor, lowerDistE6: -1_000_000 } }, quote);
  expect(sideCurve(worthless, true).levels).toEqual([]);
  expect(levelAtInput(sideCurve(worthless, true), 1n)).toBeNull();
});

function amountsOf(level: Pick<DepthLevel, 'cumulativeInput' | 'cumulativeOutput'> | undefined) {
  return { cumulativeInput: level?.cumulativeInput, cumulativeOutput: level?.cumulativeOutput };
}
