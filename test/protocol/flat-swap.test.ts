import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { E6, E8, Q64 } from '../../protocol/fixed-point.ts';
import { pricePool } from '../../protocol/layouts/flat/geometry.ts';
import { pricedPool, tradeAmount } from '../../protocol/layouts/flat/pool-state.fixture.ts';
import type { PricedPool } from '../../protocol/layouts/ladder.ts';
import { MAX_POSITION, type PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { runs } from '../harness/property-seed.ts';
import { computeSwap, type SwapResult } from './flat-swap.ts';

const direction = fc.boolean();

/** One bin of 1% above mid 1 (base fee 0 to rounding) that holds 1000 token0; one of 1% below with 500 token1. */
function twoBins(overrides: Partial<PoolState> = {}): PricedPool {
  const state: PoolState = {
    lowestBin: -1,
    highestBin: 0,
    scale: tokenScale(18, 18),
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
    spreadFeeE6: 0,
    notionalFeeE8: 0,
    bins: [
      { token0Scaled: 0n, token1Scaled: 500_000_000n, lengthE6: 10_000, addFeeBuyE6: 0, addFeeSellE6: 0 },
      { token0Scaled: 1_000_000_000n, token1Scaled: 0n, lengthE6: 10_000, addFeeBuyE6: 0, addFeeSellE6: 0 },
    ],
    ...overrides,
  };
  return pricePool(state, { bidX64: Q64 - 1n, askX64: Q64 + 1n });
}

describe('computeSwap', () => {
  it('buys a whole bin at the mean of its edge prices', () => {
    // 1000 at 1.005 is 1005; the base fee, the least there is, rounds up to one unit.
    const { amountIn, amountOut, bin, position } = computeSwap(twoBins(), {
      zeroForOne: false,
      kind: 'exactOutput',
      amount: 1_000_000_000n,
    });
    expect({ amountIn, amountOut, bin, position }).toEqual({
      amountIn: 1_005_000_001n,
      amountOut: 1_000_000_000n,
      bin: 0,
      position: MAX_POSITION,
    });
  });

  it('sells through a whole bin at the mean of the inverse edge prices', () => {
    // 500 * (1 + 1/0.99) / 2 = 502.525252..., rounded up, and one unit of base fee.
    const { amountIn, amountOut, bin, position } = computeSwap(twoBins(), {
      zeroForOne: true,
      kind: 'exactOutput',
      amount: 500_000_000n,
    });
    expect({ amountIn, amountOut, bin, position }).toEqual({
      amountIn: 502_525_254n,
      amountOut: 500_000_000n,
      bin: -1,
      position: 0n,
    });
  });

  it('moves into the next bin when a swap ends exactly at an edge, but stays in the last one', () => {
    const priced = twoBins();
    const bins = [{ ...priced.state.bins[1] }, { ...priced.state.bins[1] }] as PoolState['bins'];
    const state = { ...priced.state, cursor: { bin: -1, position: 0n, lowerDistE6: -10_000 }, bins };
    const shifted = { ...priced, state };
    const buy = (amount: bigint) => computeSwap(shifted, { zeroForOne: false, kind: 'exactOutput', amount });
    expect(buy(1_000_000_000n)).toMatchObject({ bin: 0, position: 0n });
    expect(buy(2_000_000_000n)).toMatchObject({ bin: 0, position: MAX_POSITION });
    const filled = bins.map((bin) => ({ ...bin, token0Scaled: 0n, token1Scaled: 500_000_000n })) as PoolState['bins'];
    const above = {
      ...priced,
      state: { ...state, cursor: { ...state.cursor, bin: 0, position: MAX_POSITION }, bins: filled },
    };
    const sell = (amount: bigint) => computeSwap(above, { zeroForOne: true, kind: 'exactOutput', amount });
    expect(sell(500_000_000n)).toMatchObject({ bin: -1, position: MAX_POSITION });
    expect(sell(1_000_000_000n)).toMatchObject({ bin: -1, position: 0n });
  });

  it('stays at the upper edge when a sale is too small to get anything there', () => {
    // At a price of 1/4 four units of token0 pay for one of token1: one pays for none.
    const { state } = twoBins();
    const cheap = pricePool(state, { bidX64: Q64 / 4n - 1n, askX64: Q64 / 4n + 1n });
    expect(computeSwap(cheap, { zeroForOne: true, kind: 'exactInput', amount: 1n })).toMatchObject({
      amountIn: 1n,
      amountOut: 0n,
      bin: -1,
      position: MAX_POSITION,
    });
  });

  it('takes the notional fee off an exact input and adds it to an exact output', () => {
    const without = twoBins();
    const withFee = twoBins({ notionalFeeE8: 1_000_000 });
    const exactInput = { zeroForOne: false, kind: 'exactInput', amount: 100_000_000n } as const;
    const exactOutput = { zeroForOne: false, kind: 'exactOutput', amount: 100_000_000n } as const;
    const plain = { input: computeSwap(without, exactInput), output: computeSwap(without, exactOutput) };
    expect(computeSwap(withFee, exactInput).amountOut).toBe(plain.input.amountOut - plain.input.amountOut / 100n);
    const net = plain.output.fills.reduce((sum, fill) => sum + fill.net, 0n);
    expect(computeSwap(withFee, exactOutput).amountIn).toBe(plain.output.amountIn + net / 100n);
  });

  it('fills what it can when the pool runs dry', () => {
    const { amountIn, amountOut } = computeSwap(twoBins(), {
      zeroForOne: true,
      kind: 'exactOutput',
      amount: 10n ** 18n,
    });
    expect([amountIn, amountOut]).toEqual([502_525_254n, 500_000_000n]);
    expect(computeSwap(twoBins(), { zeroForOne: true, kind: 'exactInput', amount: 10n ** 18n }).amountOut).toBe(
      500_000_000n,
    );
  });

  it('gives and takes nothing without liquidity', () => {
    const priced = twoBins();
    const empty = priced.state.bins.map((bin) => ({ ...bin, token0Scaled: 0n, token1Scaled: 0n }));
    const request = { zeroForOne: true, kind: 'exactInput', amount: 1n } as const;
    expect(computeSwap({ ...priced, state: { ...priced.state, bins: empty } }, request)).toMatchObject({
      amountIn: 0n,
      amountOut: 0n,
      fills: [],
    });
  });
});

describe('an exact input', () => {
  const exactInput = (priced: PricedPool, zeroForOne: boolean, amount: bigint) =>
    computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });

  it('is never exceeded, and is used up unless the pool runs dry', () => {
    fc.assert(
      fc.property(pricedPool, direction, tradeAmount, (priced, zeroForOne, amount) => {
        const swap = exactInput(priced, zeroForOne, amount);
        expect(swap.amountIn <= amount).toBe(true);
        const outputs = swap.fills.reduce((sum, fill) => sum + fill.output, 0n);
        if (swap.amountIn < amount) expect(outputs).toBe(liquidity(priced, zeroForOne));
      }),
    );
  });

  it('gets the largest output that it pays for: one unit more would cost more', () => {
    fc.assert(
      fc.property(pricedPool, direction, tradeAmount, (priced, zeroForOne, amount) => {
        const { multiplier0, multiplier1 } = priced.state.scale;
        const budget = amount * (zeroForOne ? multiplier0 : multiplier1);
        const swap = exactInput(priced, zeroForOne, amount);
        const outputs = swap.fills.reduce((sum, fill) => sum + fill.output, 0n);
        if (outputs === liquidity(priced, zeroForOne)) return;
        expect(costOf(priced, zeroForOne, outputs) <= budget).toBe(true);
        expect(costOf(priced, zeroForOne, outputs + 1n) > budget).toBe(true);
      }),
    );
  });

  it('gets no less for more', () => {
    fc.assert(
      fc.property(pricedPool, direction, tradeAmount, tradeAmount, (priced, zeroForOne, amount, more) => {
        const less = exactInput(priced, zeroForOne, amount).amountOut;
        expect(exactInput(priced, zeroForOne, amount + more).amountOut >= less).toBe(true);
      }),
    );
  });
});

describe('an exact output', () => {
  it('costs at least the area under the exact price line, and little more', () => {
    fc.assert(
      fc.property(pricedPool, direction, tradeAmount, (priced, zeroForOne, amount) => {
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactOutput', amount });
        for (const fill of swap.fills) {
          expect(fill.net >= 0n && fill.input >= fill.net).toBe(true);
          const edges = edgesOf(priced, fill.bin);
          // Every unit costs between the prices at the bin's edges (or their inverses), give or take the roundings.
          const [low, high] = zeroForOne
            ? [
                (fill.output * Q64) / edges.upperX64,
                (fill.output * Q64 * E6) / (edges.lowerX64 * E6) + fill.output / edges.lowerX64,
              ]
            : [(fill.output * edges.lowerX64) / Q64, (fill.output * edges.upperX64) / Q64];
          expect(fill.net >= low && fill.net <= high + fill.output / Q64 + 2n).toBe(true);
        }
      }),
    );
  });

  it('is what the same input buys, when it empties bins', () => {
    fc.assert(
      fc.property(pricedPool, direction, (priced, zeroForOne) => {
        const all = liquidity(priced, zeroForOne);
        const cost = costOf(priced, zeroForOne, all);
        const { multiplier0, multiplier1 } = priced.state.scale;
        const [inputMultiplier, outputMultiplier] = zeroForOne
          ? [multiplier0, multiplier1]
          : [multiplier1, multiplier0];
        const input = cost / inputMultiplier + (cost % inputMultiplier === 0n ? 0n : 1n);
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: input });
        const kept = all - (all * BigInt(priced.state.notionalFeeE8)) / E8;
        expect([swap.amountIn, swap.amountOut]).toEqual([input, kept / outputMultiplier]);
      }),
    );
  });
});

describe('a round trip', () => {
  it('never profits', () => {
    fc.assert(
      fc.property(pricedPool.map(withBalancesOfTrades), direction, tradeAmount, (priced, zeroForOne, amount) => {
        const there = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });
        const back = computeSwap(afterSwap(priced, zeroForOne, there), {
          zeroForOne: !zeroForOne,
          kind: 'exactInput',
          amount: there.amountOut,
        });
        expect(back.amountOut <= there.amountIn).toBe(true);
      }),
      { numRuns: runs(80) },
    );
  });
});

/**
 * The pool at the lower edge of its bin, with token1 below it and token0 from it on, as trades leave it. A bin whose
 * balances do not fit the position sells at the price of one place what it bought along its whole way,
 * and loses to a round trip.
 */
function withBalancesOfTrades(priced: PricedPool): PricedPool {
  const { lowestBin, cursor } = priced.state;
  const bins = priced.state.bins.map((bin, index) =>
    lowestBin + index < cursor.bin ? { ...bin, token0Scaled: 0n } : { ...bin, token1Scaled: 0n },
  );
  return { ...priced, state: { ...priced.state, bins, cursor: { ...cursor, position: 0n } } };
}

/** The pool after a swap, with all fees left in its bins. */
function afterSwap(priced: PricedPool, zeroForOne: boolean, swap: SwapResult): PricedPool {
  const { state } = priced;
  const bins = state.bins.map((bin, index) => {
    const fill = swap.fills.find(({ bin: number }) => number - state.lowestBin === index);
    if (fill === undefined) return bin;
    return zeroForOne
      ? { ...bin, token0Scaled: bin.token0Scaled + fill.input, token1Scaled: bin.token1Scaled - fill.output }
      : { ...bin, token0Scaled: bin.token0Scaled - fill.output, token1Scaled: bin.token1Scaled + fill.input };
  });
  const step = (from: number, to: number) =>
    state.bins.slice(from, to).reduce((sum, { lengthE6 }) => sum + lengthE6, 0);
  const from = state.cursor.bin - state.lowestBin;
  const to = swap.bin - state.lowestBin;
  const lowerDistE6 = state.cursor.lowerDistE6 + (to >= from ? step(from, to) : -step(to, from));
  return { ...priced, state: { ...state, bins, cursor: { bin: swap.bin, position: swap.position, lowerDistE6 } } };
}

/** All that a direction can take out, scaled. */
function liquidity({ state }: PricedPool, zeroForOne: boolean): bigint {
  return state.bins.reduce((sum, bin) => sum + (zeroForOne ? bin.token1Scaled : bin.token0Scaled), 0n);
}

/** Bin costs (scaled, without notional fee) of an exact output of scaled units. */
function costOf(priced: PricedPool, zeroForOne: boolean, output: bigint): bigint {
  const scaledUnits = { multiplier0: 1n, multiplier1: 1n };
  const request = { zeroForOne, kind: 'exactOutput', amount: output } as const;
  const inScaledUnits = { ...priced, state: { ...priced.state, scale: scaledUnits } };
  return computeSwap(inScaledUnits, request).fills.reduce((sum, fill) => sum + fill.input, 0n);
}

function edgesOf({ state, edgesX64 }: PricedPool, bin: number) {
  const lowerX64 = edgesX64[bin - state.lowestBin] ?? 0n;
  const upperX64 = edgesX64[bin - state.lowestBin + 1] ?? 0n;
  return { lowerX64, upperX64 };
}
