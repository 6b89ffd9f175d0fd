import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { walkExactInput, walkExactOutput } from '../test/protocol/fill-walk.ts';
import { computeSwap } from '../test/protocol/flat-swap.ts';
import type { BinEdges } from './bin-price.ts';
import { tradingBins, type WalkLevel } from './fill-walk.ts';
import { E8, minBigint } from './fixed-point.ts';
import { sideCurve } from './layouts/flat/geometry.ts';
import { pricedPool, tradeAmount } from './layouts/flat/pool-state.fixture.ts';
import type { PricedPool } from './layouts/ladder.ts';

/** Levels from pairs of cumulative input and output. */
function levels(...pairs: [bigint, bigint][]): WalkLevel[] {
  return pairs.map(([cumulativeInput, cumulativeOutput]) => ({ cumulativeInput, cumulativeOutput }));
}

const THREE_BINS = levels([100n, 50n], [300n, 149n], [600n, 290n]);

describe('walkExactInput', () => {
  it.each([
    ['nothing', 0n, { amountIn: 0n, amountOut: 0n, remaining: 0n, lastLevel: -1 }],
    ['part of a bin, rounded down', 33n, { amountIn: 33n, amountOut: 16n, remaining: 0n, lastLevel: 0 }],
    ['exactly a bin', 100n, { amountIn: 100n, amountOut: 50n, remaining: 0n, lastLevel: 0 }],
    // 50 + floor(99 * 1 / 200)
    ['one unit more', 101n, { amountIn: 101n, amountOut: 50n, remaining: 0n, lastLevel: 1 }],
    // 50 + 99 + floor(141 * 150 / 300)
    ['into the last bin', 450n, { amountIn: 450n, amountOut: 219n, remaining: 0n, lastLevel: 2 }],
    ['the whole side', 600n, { amountIn: 600n, amountOut: 290n, remaining: 0n, lastLevel: 2 }],
    ['more than the side', 601n, { amountIn: 600n, amountOut: 290n, remaining: 1n, lastLevel: 2 }],
  ])('fills %s', (_, amountIn, expected) => {
    expect(walkExactInput(tradingBins(THREE_BINS), amountIn)).toEqual(expected);
  });
});

describe('walkExactOutput', () => {
  it.each([
    ['nothing', 0n, { amountIn: 0n, amountOut: 0n, remaining: 0n, lastLevel: -1 }],
    ['exactly a bin', 50n, { amountIn: 100n, amountOut: 50n, remaining: 0n, lastLevel: 0 }],
    // 100 + ceil(200 * 1 / 99)
    ['one unit more, rounded up', 51n, { amountIn: 103n, amountOut: 51n, remaining: 0n, lastLevel: 1 }],
    ['the whole side', 290n, { amountIn: 600n, amountOut: 290n, remaining: 0n, lastLevel: 2 }],
    ['more than the side', 300n, { amountIn: 600n, amountOut: 290n, remaining: 10n, lastLevel: 2 }],
  ])('fills %s', (_, amountOut, expected) => {
    expect(walkExactOutput(tradingBins(THREE_BINS), amountOut)).toEqual(expected);
  });
});

describe('tradingBins', () => {
  it('leaves out a level whose cumulative input does not exceed the previous one', () => {
    const bins = tradingBins(levels([100n, 50n], [100n, 50n], [90n, 60n], [300n, 149n], [300n, 149n]));
    expect(bins).toEqual([
      { index: 0, input: 100n, output: 50n },
      { index: 3, input: 200n, output: 99n },
    ]);
  });

  it('leaves out a bin without output, and its input with it', () => {
    expect(tradingBins(levels([5n, 0n], [100n, 50n], [101n, 50n], [301n, 149n]))).toEqual([
      { index: 1, input: 95n, output: 50n },
      { index: 3, input: 200n, output: 99n },
    ]);
  });

  it('of an empty side are none, so that nothing fills', () => {
    expect(tradingBins(levels([0n, 0n], [0n, 0n]))).toEqual([]);
    expect(walkExactInput([], 5n)).toEqual({ amountIn: 0n, amountOut: 0n, remaining: 5n, lastLevel: -1 });
    expect(walkExactOutput([], 5n)).toEqual({ amountIn: 0n, amountOut: 0n, remaining: 5n, lastLevel: -1 });
  });
});

const increments = fc.array(fc.tuple(fc.bigInt(0n, 1_000_000n), fc.bigInt(0n, 1_000_000n)), { maxLength: 12 });
const sides = increments.map((steps) => {
  let previous: [bigint, bigint] = [0n, 0n];
  return levels(
    ...steps.map(([input, output]): [bigint, bigint] => {
      previous = [previous[0] + input, previous[1] + output];
      return previous;
    }),
  );
});

describe('walks over any levels', () => {
  it('do what the published steps say, one after another', () => {
    fc.assert(
      fc.property(sides, fc.bigInt(0n, 8_000_000n), (side, amount) => {
        const walk = walkExactInput(tradingBins(side), amount);
        expect([walk.amountOut, walk.remaining]).toEqual(publishedWalk(side, amount, 'input'));
        const back = walkExactOutput(tradingBins(side), amount);
        expect([back.amountIn, back.remaining]).toEqual(publishedWalk(side, amount, 'output'));
      }),
    );
  });

  it('want no more input for an output than the input that gave it, and less by what rounding kept', () => {
    fc.assert(
      fc.property(sides, fc.bigInt(0n, 8_000_000n), (side, amount) => {
        const bins = tradingBins(side);
        const there = walkExactInput(bins, amount);
        const back = walkExactOutput(bins, there.amountOut);
        expect(back.remaining).toBe(0n);
        expect(back.amountIn <= there.amountIn).toBe(true);
        // What one output unit costs where the walk stopped, plus two units.
        const last = bins.find(({ index }) => index === there.lastLevel);
        const unitCost = last === undefined ? 0n : last.input / last.output + 1n;
        expect(there.amountIn - back.amountIn <= unitCost + 2n).toBe(true);
      }),
    );
  });
});

describe('walks over a pool', () => {
  it('err by less than the price width of one bin', () => {
    fc.assert(
      fc.property(pricedPool, fc.boolean(), tradeAmount, (priced, zeroForOne, amount) => {
        const curve = sideCurve(priced, zeroForOne);
        const walk = walkExactInput(tradingBins(curve.levels), amount);
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });
        if (walk.remaining > 0n || walk.lastLevel < 0) return;
        const step = curve.steps[walk.lastLevel];
        const before = curve.levels[walk.lastLevel - 1] ?? { cumulativeInput: 0n, cumulativeOutput: 0n };
        if (step === undefined) throw new Error('a walk beyond its side');
        // Inside the bin the true output is input / price for some price between its edges: so is the walk's.
        const { lowerX64, upperX64 } = step.slice.edges;
        const spread = ((walk.amountOut - before.cumulativeOutput) * (upperX64 - lowerX64)) / lowerX64;
        const error = walk.amountOut - swap.amountOut;
        // Skipped dust bins and raw rounding cost what a few units of input are worth.
        const dust = outputOfUnits(priced, zeroForOne, step.slice.edges, 2n * BigInt(curve.levels.length));
        expect((error < 0n ? -error : error) <= spread + dust).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });
});

/** What this many raw units of input are worth at most in a bin, in raw units of output, plus one for each rounding. */
function outputOfUnits(
  { state }: PricedPool,
  zeroForOne: boolean,
  { lowerX64, upperX64 }: BinEdges,
  units: bigint,
): bigint {
  const { multiplier0, multiplier1 } = state.scale;
  const value = zeroForOne
    ? (units * multiplier0 * upperX64) / (multiplier1 << 64n)
    : ((units * multiplier1) << 64n) / (multiplier0 * lowerX64);
  return value + units + (value * BigInt(state.notionalFeeE8)) / E8;
}

/** The published steps, transcribed: received (or paid) and what remains. */
function publishedWalk(side: readonly WalkLevel[], amount: bigint, given: 'input' | 'output'): [bigint, bigint] {
  let previousInput = 0n;
  let previousOutput = 0n;
  let remaining = amount;
  let total = 0n;
  for (const { cumulativeInput, cumulativeOutput } of side) {
    if (cumulativeInput <= previousInput) continue;
    const binInput = cumulativeInput - previousInput;
    const binOutput = cumulativeOutput - previousOutput;
    previousInput = cumulativeInput;
    previousOutput = cumulativeOutput;
    if (binOutput === 0n) continue;
    const [binGiven, binOther] = given === 'input' ? [binInput, binOutput] : [binOutput, binInput];
    const used = minBigint(remaining, binGiven);
    const product = binOther * used;
    total += given === 'input' ? product / binGiven : (product + binGiven - 1n) / binGiven;
    remaining -= used;
    if (remaining === 0n) break;
  }
  return [total, remaining];
}
