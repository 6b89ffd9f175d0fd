import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { E6, Q64 } from '../protocol/fixed-point.ts';
import { MAX_POSITION } from '../protocol/pool-state.ts';
import { runs } from '../test/harness/property-seed.ts';
import { balanceOf, type SwapAmounts, swap } from './actions.ts';
import {
  dropProtocolFee,
  multipliers,
  type PoolWords,
  poolOf,
  readWords,
  type Setup,
  simulate,
  startSetup,
} from './contracts.fixture.ts';
import { areaUnderCurve, costOfPrice, edgePrices } from './curve-area.fixture.ts';
import { takenBack } from './dev-chain.ts';
import { type PoolRecipe, poolRecipe, type RandomPool } from './random-pool.ts';

const RUNS = runs(8);

let setup: Setup;

beforeAll(async () => {
  setup = await startSetup();
});

afterAll(() => setup.anvil.stop());

/** A side of the market and how much of it, in thousandths of what the pool has; sometimes more than it has. */
const order = fc.record({
  zeroForOne: fc.boolean(),
  exactInput: fc.boolean(),
  partE3: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1_001, max: 3_000 })),
});

type Order = typeof order extends fc.Arbitrary<infer T> ? T : never;

/** The order as the pool takes it: positive input, negative output, never zero. */
async function specify(pool: RandomPool, { zeroForOne, exactInput, partE3 }: Order): Promise<bigint> {
  const words = await readWords(setup, pool);
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const output = zeroForOne ? words.total1 / multiplier1 : words.total0 / multiplier0;
  const planned = (output * BigInt(partE3)) / 1_000n + 1n;
  if (!exactInput) return -planned;
  const scaledOut = planned * (zeroForOne ? multiplier1 : multiplier0);
  const scaledIn = zeroForOne ? (scaledOut * Q64) / pool.recipe.askX64 : (scaledOut * pool.recipe.askX64) / Q64;
  return scaledIn / (zeroForOne ? multiplier0 : multiplier1) + 1n;
}

async function wallet({ token0, token1 }: RandomPool): Promise<readonly [bigint, bigint]> {
  const { trader } = setup.chain.roles;
  return [await balanceOf(setup.chain, token0, trader), await balanceOf(setup.chain, token1, trader)];
}

function swapIn(pool: RandomPool, zeroForOne: boolean, amountSpecified: bigint, priceLimitX64?: bigint) {
  const limit = priceLimitX64 === undefined ? {} : { priceLimitX64 };
  return swap(setup.chain, setup.deployment, { pool: pool.address, zeroForOne, amountSpecified, ...limit });
}

/** Runs a property on fresh random pools. */
async function onPools<T>(
  arbitrary: fc.Arbitrary<T>,
  check: (pool: RandomPool, value: T) => Promise<void>,
  recipes: fc.Arbitrary<PoolRecipe> = poolRecipe,
): Promise<void> {
  const property = fc.asyncProperty(recipes, arbitrary, async (recipe, value) => {
    await takenBack(setup.chain, async () => check(await poolOf(setup, recipe), value));
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
}

describe('a swap', () => {
  test('moves exactly the amounts that its simulation and its event report', async () => {
    await onPools(fc.array(order, { minLength: 1, maxLength: 4 }), async (pool, orders) => {
      for (const planned of orders) {
        const amountSpecified = await specify(pool, planned);
        const simulated = await simulate(setup, pool, { zeroForOne: planned.zeroForOne, amountSpecified });
        const [before0, before1] = await wallet(pool);
        const swapped = await swapIn(pool, planned.zeroForOne, amountSpecified);
        const [after0, after1] = await wallet(pool);
        expect(swapped).toEqual(simulated);
        expect([before0 - after0, before1 - after1]).toEqual([swapped.amount0Delta, swapped.amount1Delta]);
        const [input, output] = sides(swapped, planned.zeroForOne);
        expect(input).toBeGreaterThanOrEqual(0n);
        expect(output).toBeGreaterThanOrEqual(0n);
        if (planned.exactInput) expect(input).toBeLessThanOrEqual(amountSpecified);
        else expect(output).toBeLessThanOrEqual(-amountSpecified);
      }
    });
  });

  test('and the way back never profit', async () => {
    await onPools(order, async (pool, planned) => {
      const there = await swapIn(pool, planned.zeroForOne, await specify(pool, planned));
      const [paid, received] = sides(there, planned.zeroForOne);
      if (received === 0n) return;
      const [spent, returned] = sides(await swapIn(pool, !planned.zeroForOne, received), !planned.zeroForOne);
      expect(spent).toBeLessThanOrEqual(received);
      expect(returned).toBeLessThanOrEqual(paid);
    });
  });

  test('costs no less than the area under the curve, and hardly more', async () => {
    // One bin, no notional fee: the price is a straight line, whose area is exact in rationals.
    const oneBin = poolRecipe.map((recipe) => ({
      ...recipe,
      bins: recipe.bins.filter(({ bin }) => bin === 0).map((bin) => ({ ...bin, shares: 10n ** 21n })),
      adminNotionalFeeE8: 0,
    }));
    await onPools(
      fc.record({ zeroForOne: fc.boolean(), partE3: fc.integer({ min: 1, max: 999 }) }),
      async (pool, { zeroForOne, partE3 }) => {
        await dropProtocolFee(setup, pool.address);
        const before = await readWords(setup, pool);
        const bin = before.bins.get(0n);
        if (bin === undefined) throw new Error('bin 0 is missing');
        const [multiplier0, multiplier1] = multipliers(pool.recipe);
        const output =
          ((zeroForOne ? bin.balance1 / multiplier1 : bin.balance0 / multiplier0) * BigInt(partE3)) / 1_000n;
        if (output === 0n) return;
        const swapped = await swapIn(pool, zeroForOne, -output);
        const [input] = sides(swapped, zeroForOne);
        const [multiplierIn, multiplierOut] = zeroForOne ? [multiplier0, multiplier1] : [multiplier1, multiplier0];
        const cost = areaUnderCurve(pool.recipe, before, output * multiplierOut, zeroForOne);
        const slack = 4n + cost / 10n ** 12n + costOfPrice(output * multiplierOut, pool.recipe, zeroForOne);
        expect(input * multiplierIn).toBeGreaterThanOrEqual(cost);
        expect(input * multiplierIn).toBeLessThanOrEqual(cost + slack + multiplierIn);
        expectCursorShort(before, await readWords(setup, pool), output * multiplierOut, zeroForOne);
      },
      oneBin,
    );
  });

  test('stops at its price limit', async () => {
    await onPools(
      fc.record({
        zeroForOne: fc.boolean(),
        exactInput: fc.boolean(),
        distanceE6: fc.integer({ min: 0, max: 60_000 }),
      }),
      async (pool, { zeroForOne, exactInput, distanceE6 }) => {
        const before = await cursorPrice(pool);
        const limit = (before * (zeroForOne ? E6 - BigInt(distanceE6) : E6 + BigInt(distanceE6))) / E6;
        await swapIn(pool, zeroForOne, exactInput ? 10n ** 25n : -(10n ** 25n), limit);
        const after = await cursorPrice(pool);
        // The price that is shown is rounded down.
        if (zeroForOne) expect(after).toBeGreaterThanOrEqual(limit - 1n < before ? limit - 1n : before);
        else expect(after).toBeLessThanOrEqual(limit > before ? limit : before);
      },
    );
  });
});

describe('at the edges of bins', () => {
  const feeless = poolRecipe.map((recipe) => ({ ...recipe, adminNotionalFeeE8: 0 }));

  test('exact output and exact input agree', async () => {
    await onPools(
      fc.boolean(),
      async (pool, zeroForOne) => {
        await dropProtocolFee(setup, pool.address);
        for (const output of await edgesOf(pool, zeroForOne)) {
          const exactOutput = await amounts(pool, zeroForOne, -output);
          expect(exactOutput.output).toBe(output);
          const { input } = exactOutput;
          const enough = await amounts(pool, zeroForOne, input);
          expect(enough.output).toBeGreaterThanOrEqual(output);
          expect(input - enough.input).toBeLessThanOrEqual(2n);
          if (input <= 2n) continue;
          const short = await amounts(pool, zeroForOne, input - 2n);
          expect(short.output).toBeLessThanOrEqual(output);
        }
      },
      feeless,
    );
  });

  test('more input never gives less output', async () => {
    await onPools(fc.tuple(order, fc.integer({ min: 1, max: 1_000 })), async (pool, [planned, moreE3]) => {
      const less = await specify(pool, { ...planned, exactInput: true });
      const more = less + (less * BigInt(moreE3)) / 1_000n + 1n;
      const first = await amounts(pool, planned.zeroForOne, less);
      const second = await amounts(pool, planned.zeroForOne, more);
      expect(second.output).toBeGreaterThanOrEqual(first.output);
      expect(second.input).toBeGreaterThanOrEqual(first.input);
    });
  });

  const twoBins: PoolRecipe = {
    decimals0: 18,
    decimals1: 6,
    bidX64: 2n * Q64 - 1_000n,
    askX64: 2n * Q64 + 1_000n,
    bins: [-1, 0, 1].map((bin) => ({ bin, lengthE6: 1_000, addFeeBuyE6: 0, addFeeSellE6: 0, shares: 10n ** 18n })),
    curBinDistFromProvidedPriceE6: 0,
    adminSpreadFeeE6: 0,
    adminNotionalFeeE8: 0,
    moves: [],
  };

  test('a buy that empties a bin leaves the cursor at the start of the next, and at the end of the last', async () => {
    const pool = await poolOf(setup, twoBins);
    expect(await cursor(pool)).toEqual([0n, 0n, 0n]);
    await swapIn(pool, false, -(10n ** 18n));
    expect(await cursor(pool)).toEqual([1n, 0n, 1_000n]);
    await swapIn(pool, false, -(10n ** 18n));
    expect(await cursor(pool)).toEqual([1n, MAX_POSITION, 1_000n]);
    expect(await swapIn(pool, false, -1n)).toEqual({ amount0Delta: 0n, amount1Delta: 0n });
  });

  test('a sale that empties a bin leaves the cursor at the end of the next, and at the start of the last', async () => {
    const pool = await poolOf(setup, { ...twoBins, decimals1: 18 });
    await swapIn(pool, false, -(10n ** 18n));
    const token1In = async (bin: bigint) => (await readWords(setup, pool)).bins.get(bin)?.balance1 ?? 0n;
    await swapIn(pool, true, -(await token1In(0n)));
    expect(await cursor(pool)).toEqual([-1n, MAX_POSITION, -1_000n]);
    await swapIn(pool, true, -(await token1In(-1n)));
    expect(await cursor(pool)).toEqual([-1n, 0n, -1_000n]);
    expect(await swapIn(pool, true, 10n ** 18n)).toEqual({ amount0Delta: 0n, amount1Delta: 0n });
    expect(await cursor(pool)).toEqual([-1n, 0n, -1_000n]);
  });
});

/** The cursor of a bin that was not emptied stops at the true place or, by less than a unit, short of it. */
function expectCursorShort(before: PoolWords, after: PoolWords, output: bigint, zeroForOne: boolean): void {
  const { balance0, balance1 } = before.bins.get(before.bin) ?? { balance0: 0n, balance1: 0n };
  const available = zeroForOne ? balance1 : balance0;
  const start = before.position;
  const exact = zeroForOne ? start * (available - output) : start * available + (MAX_POSITION - start) * output;
  const short = zeroForOne ? after.position * available - exact : exact - after.position * available;
  expect(short).toBeGreaterThanOrEqual(0n);
  expect(short).toBeLessThan(available);
}

function sides({ amount0Delta, amount1Delta }: SwapAmounts, zeroForOne: boolean): readonly [bigint, bigint] {
  return zeroForOne ? [amount0Delta, -amount1Delta] : [amount1Delta, -amount0Delta];
}

async function amounts(pool: RandomPool, zeroForOne: boolean, amountSpecified: bigint) {
  const simulated = await simulate(setup, pool, { zeroForOne, amountSpecified });
  if (typeof simulated === 'string') throw new Error(`the simulation reverted with ${simulated}`);
  const [input, output] = sides(simulated, zeroForOne);
  return { input, output };
}

async function cursor(pool: RandomPool): Promise<readonly [bigint, bigint, bigint]> {
  const { bin, position, distanceE6 } = await readWords(setup, pool);
  return [bin, position, distanceE6];
}

/** Cumulative outputs at the bin edges of a side, raw units, rounded down. */
async function edgesOf(pool: RandomPool, zeroForOne: boolean): Promise<readonly bigint[]> {
  const { bins, bin: current } = await readWords(setup, pool);
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const ahead = [...bins].filter(([index]) => (zeroForOne ? index <= current : index >= current));
  if (zeroForOne) ahead.reverse();
  let total = 0n;
  const edges = ahead.map(([, bin]) => {
    total += zeroForOne ? bin.balance1 : bin.balance0;
    return zeroForOne ? total / multiplier1 : total / multiplier0;
  });
  return [...new Set(edges)].filter((edge) => edge > 0n);
}

async function cursorPrice(pool: RandomPool): Promise<bigint> {
  const words = await readWords(setup, pool);
  const [lower, upper] = edgePrices(pool.recipe, words);
  return (lower * (MAX_POSITION - words.position) + upper * words.position) / MAX_POSITION;
}
