import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxBigint } from '../../fixed-point.ts';
import { MAX_POSITION } from '../../pool-state.ts';
import { fillAtLeast } from '../bin-fill.ts';
import { type PricedPool, pricePool } from '../ladder.ts';
import { levelAtInput, levelsWithin, swapExactOutput } from '../side-amounts.ts';
import { type SideCurve, sideCurve } from '../side-curve.ts';
import { curvePrices, FEE_FORMULAS, formulaCurve, formulaFees } from './formulas.ts';
import { pricedPool } from './pool-state.fixture.ts';

const [OLDER] = FEE_FORMULAS;
const formula = fc.constantFrom(...FEE_FORMULAS);

/** One side of a random pool by a random formula. */
const side: fc.Arbitrary<SideCurve> = fc
  .tuple(pricedPool, formula, fc.boolean())
  .map(([priced, of, zeroForOne]) => formulaCurve(priced, of)[zeroForOne ? 'bids' : 'asks']);

describe('levels', () => {
  it('list every bin from the current one to the last, outwards, and never fall', () => {
    fc.assert(
      fc.property(side, ({ levels, priced, zeroForOne }) => {
        const { lowestBin, highestBin, cursor } = priced.state;
        const all = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => lowestBin + index);
        const bins = zeroForOne
          ? all.filter((bin) => bin <= cursor.bin).reverse()
          : all.filter((bin) => bin >= cursor.bin);
        expect(levels.map(({ bin }) => bin)).toEqual(bins);
        levels.slice(1).forEach((level, index) => {
          expect(level.cumulativeInput).toBeGreaterThanOrEqual(levels[index]?.cumulativeInput ?? 0n);
          expect(level.cumulativeOutput).toBeGreaterThanOrEqual(levels[index]?.cumulativeOutput ?? 0n);
        });
      }),
    );
  });

  it('price their far edge as the pool would, standing there with the fees of the bin', () => {
    fc.assert(
      fc.property(pricedPool, formula, fc.boolean(), (priced, of, zeroForOne) => {
        const { state, quote } = priced;
        const lengthOf = (bin: number) => state.bins[bin - state.lowestBin]?.lengthE6 ?? 0;
        let { lowerDistE6 } = state.cursor;
        for (const { bin, priceX64 } of formulaCurve(priced, of)[zeroForOne ? 'bids' : 'asks'].levels) {
          if (bin !== state.cursor.bin) lowerDistE6 += zeroForOne ? -lengthOf(bin) : lengthOf(bin - 1);
          const cursor = { bin, position: zeroForOne ? 0n : MAX_POSITION, lowerDistE6 };
          const { sellX64, buyX64 } = curvePrices(formulaCurve(pricePool({ ...state, cursor }, quote), of));
          expect(priceX64).toBe(zeroForOne ? sellX64 : buyX64);
        }
      }),
    );
  });

  it('end a side where prices reach zero', () => {
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
    const priced = pricePool(state, { bidX64: 1n << 64n, askX64: 1n << 64n, referenceX64: 1n << 64n });
    // 16 bins of 6% fit below the reference; the seventeenth would end below zero.
    expect(formulaCurve(priced, OLDER).bids.levels.at(-1)?.bin).toBe(-16);
    const worthless = pricePool({ ...state, cursor: { ...state.cursor, lowerDistE6: -1_000_000 } }, priced.quote);
    expect(formulaCurve(worthless, OLDER).bids).toMatchObject({ levels: [], bestX64: 0n });
    expect(levelAtInput(formulaCurve(worthless, OLDER).bids, 1n)).toBeNull();
    expect(swapExactOutput(formulaCurve(worthless, OLDER).bids, 1n)).toEqual({ amountIn: 0n, amountOut: 0n });
  });
});

describe('the part of a side within an input', () => {
  it('is its levels up to there, and the stop itself', () => {
    fc.assert(
      fc.property(side, fc.bigInt(0n, 1_200_000n), (curve, partE6) => {
        const most = ((curve.levels.at(-1)?.cumulativeInput ?? 0n) * partE6) / 1_000_000n;
        const within = levelsWithin(curve, most, curve.levels.length);
        const whole = curve.levels.filter(({ cumulativeInput }) => cumulativeInput <= most);
        expect(within.slice(0, whole.length)).toEqual(whole);
        const [stop, ...more] = within.slice(whole.length);
        expect(more).toEqual([]);
        expect(stop === undefined).toBe(most <= (whole.at(-1)?.cumulativeInput ?? 0n));
        if (!stop) return;
        const exact = levelAtInput(curve, most);
        expect({ ...stop, cumulativeOutput: exact?.cumulativeOutput }).toEqual(exact);
        const less = maxBigint(
          levelAtInput(curve, most, fillAtLeast)?.cumulativeOutput ?? 0n,
          whole.at(-1)?.cumulativeOutput ?? 0n,
        );
        expect(stop.cumulativeOutput).toBe(less);
      }),
    );
  });

  it('ends before a level that is not to be reached', () => {
    fc.assert(
      fc.property(side, fc.nat(6), (curve, end) => {
        const most = curve.levels[end - 1]?.cumulativeInput ?? 0n;
        const within = levelsWithin(curve, most, end);
        expect(within).toEqual(curve.levels.slice(0, end).filter(({ cumulativeInput }) => cumulativeInput <= most));
      }),
    );
  });
});

describe('a margin', () => {
  const raisedSides = (priced: PricedPool, zeroForOne: boolean) => {
    const fees = formulaFees(OLDER, priced.state, priced.quote, zeroForOne);
    return [
      sideCurve(priced, zeroForOne, fees),
      sideCurve(priced, zeroForOne, { ...fees, marginE15: 10n ** 12n }),
    ] as const;
  };

  it('raises the inputs of levels by its part, up to a raw unit, and leaves outputs', () => {
    fc.assert(
      fc.property(pricedPool, fc.boolean(), (priced, zeroForOne) => {
        const [exact, raised] = raisedSides(priced, zeroForOne);
        exact.levels.forEach(({ cumulativeInput, cumulativeOutput }, index) => {
          const level = raised.levels[index];
          const least = cumulativeInput - 1n + (cumulativeInput - 1n) / 1_000n;
          expect(level?.cumulativeInput).toBeGreaterThanOrEqual(least);
          expect(level?.cumulativeInput).toBeLessThanOrEqual(cumulativeInput + cumulativeInput / 1_000n + 1n);
          expect(level?.cumulativeOutput).toBe(cumulativeOutput);
        });
      }),
    );
  });

  it('gives no more for an input, and takes no more than it', () => {
    fc.assert(
      fc.property(pricedPool, fc.boolean(), fc.nat(100), (priced, zeroForOne, bits) => {
        const [exact, raised] = raisedSides(priced, zeroForOne);
        const amount = 1n << BigInt(bits);
        const level = levelAtInput(raised, amount);
        expect(level?.cumulativeInput ?? 0n).toBeLessThanOrEqual(amount);
        expect(level?.cumulativeOutput ?? 0n).toBeLessThanOrEqual(levelAtInput(exact, amount)?.cumulativeOutput ?? 0n);
      }),
    );
  });
});
