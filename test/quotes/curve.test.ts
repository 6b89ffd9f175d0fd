import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sellAndBuyPrices } from '../../devnet/actions.ts';
import {
  createRandomPool,
  type PoolRecipe,
  poolRecipe,
  type RandomPool,
  stockTokens,
} from '../../devnet/random-pool.ts';
import { tradingBins } from '../../protocol/fill-walk.ts';
import { stringifyJson } from '../../runtime/json.ts';
import { readChainPools } from '../indexing/chain-pools.ts';
import { walkExactInput, walkExactOutput } from '../protocol/fill-walk.ts';
import { amountsOf, askChain, type Level, tradingLevels } from './chain-curve.ts';
import { apiOf } from './quote-api.ts';
import { quoteWorld } from './quote-world.ts';

const POOLS = 14;
/** Named in the test's title, so that a failure can be seen again. */
const SEED = fc.readConfigureGlobal().seed ?? 0;

const world = quoteWorld(async (on) => {
  const { chain, deployment } = on;
  const shelf = await stockTokens(chain, deployment);
  const pools: RandomPool[] = [];
  for (const recipe of fc.sample(poolRecipe, { numRuns: POOLS, seed: SEED })) {
    pools.push(await createRandomPool(chain, deployment, shelf, recipe));
  }
  const addresses = pools.map(({ address }) => address);
  return { pools, addresses, api: await apiOf(on, addresses) };
});

/** Both sides of every pool that is healthy, with what asks the chain. */
async function sides() {
  const found = await Promise.all(
    world.pools.map(async ({ address, recipe }) => {
      const { priceProviderStatus, depth } = await world.api.quote(address);
      expect(priceProviderStatus, stringifyJson(recipe)).toBe('healthy');
      const ask = (zeroForOne: boolean) => (input: bigint) => askChain(world.chain, address, recipe, zeroForOne, input);
      return [
        { recipe, levels: depth?.bids ?? [], ask: ask(true) },
        { recipe, levels: depth?.asks ?? [], ask: ask(false) },
      ];
    }),
  );
  return found.flat();
}

describe(`random pools on a chain (PROPERTY_SEED=${SEED})`, () => {
  test("best prices are exactly the pool's own, with depth and without", async () => {
    for (const { address } of world.pools) {
      const { sellX64, buyX64 } = (await sellAndBuyPrices(world.chain, address)) as { sellX64: bigint; buyX64: bigint };
      for (const depth of [true, false]) {
        const { bidAdj, askAdj } = await world.api.quote(address, depth);
        expect([bidAdj, askAdj]).toEqual([sellX64.toString(), buyX64.toString()]);
      }
    }
  });

  test("every level lies on the chain's own curve within two units of input", async () => {
    let checked = 0;
    for (const { levels, ask } of await sides()) {
      for (const level of tradingLevels(levels)) {
        const { input, output } = amountsOf(level);
        const full = await ask(input);
        expect(full?.given).toBeGreaterThanOrEqual(output);
        expect(input - (full?.taken ?? 0n)).toBeLessThanOrEqual(2n);
        if (input > 2n) expect((await ask(input - 2n))?.given).toBeLessThanOrEqual(output);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(POOLS);
  });

  test('a walk of any size errs by less than the price width of one bin', async () => {
    const parts = fc.sample(fc.integer({ min: 1, max: 1_000_000 }), { numRuns: 4, seed: SEED });
    for (const { recipe, levels, ask } of await sides()) {
      const bins = tradingBins(levels.map(toWalkLevel));
      const total = levels.length === 0 ? 0n : BigInt(levels.at(-1)?.cumulativeInputVolume ?? 0);
      for (const part of parts) {
        const input = (total * BigInt(part)) / 1_000_000n;
        if (input === 0n) continue;
        const { amountOut, lastLevel } = walkExactInput(bins, input);
        const given = (await ask(input))?.given ?? -1n;
        const before = bins.filter(({ index }) => index < lastLevel).reduce((sum, { output }) => sum + output, 0n);
        const width = relativeWidthE9Ceil(recipe, levels[lastLevel]?.binIdx ?? Number.NaN);
        const error = given > amountOut ? given - amountOut : amountOut - given;
        // Inputs are whole units: the level's pair is exact to two of them, which is what they buy.
        const twoUnits = 2n * bins.reduce((most, bin) => max(most, bin.output / bin.input + 1n), 0n);
        expect(error).toBeLessThanOrEqual(((amountOut - before) * width) / 1_000_000_000n + twoUnits);
      }
    }
  });

  test('walking back costs at most what was paid, and less by no more than one unit of output costs', async () => {
    const parts = fc.sample(fc.integer({ min: 1, max: 1_000_000 }), { numRuns: 20, seed: SEED });
    for (const { levels } of await sides()) {
      const bins = tradingBins(levels.map(toWalkLevel));
      const total = BigInt(levels.at(-1)?.cumulativeInputVolume ?? 0);
      for (const part of parts) {
        const input = (total * BigInt(part)) / 1_000_000n;
        const { amountIn, amountOut } = walkExactInput(bins, input);
        const back = walkExactOutput(bins, amountOut);
        const mostExpensive = bins.reduce((most, bin) => max(most, bin.input / bin.output + 1n), 0n);
        expect(back.remaining).toBe(0n);
        expect(back.amountIn).toBeLessThanOrEqual(amountIn);
        expect(amountIn - back.amountIn).toBeLessThanOrEqual(mostExpensive + 2n);
      }
    }
  });

  test('the last level gives all that is owned by LPs, and bins go outward from the current one', async () => {
    const chainPools = await readChainPools(world.chain.client, world.deployment.poolFactory);
    for (const { address } of world.pools) {
      const { depth, totalToken0Available, totalToken1Available } = await world.api.quote(address);
      const state = chainPools.get(address);
      if (state === undefined) throw new Error(`the factory does not know ${address}`);
      const { total0Scaled, total1Scaled, token0ScaleMultiplier, token1ScaleMultiplier } = state;
      for (const [levels, owned, available] of [
        [depth?.bids, total1Scaled / token1ScaleMultiplier, totalToken1Available],
        [depth?.asks, total0Scaled / token0ScaleMultiplier, totalToken0Available],
      ] as const) {
        const volume = BigInt(levels?.at(-1)?.cumulativeVolume ?? -1);
        expect(volume).toBeLessThanOrEqual(owned);
        expect(volume).toBeGreaterThanOrEqual((owned * BigInt(100_000_000 - state.notionalFeeE8)) / 100_000_000n - 2n);
        expect(owned).toBeLessThanOrEqual(BigInt(available ?? -1));
      }
      expect(depth?.bids[0]?.binIdx).toBe(depth?.asks[0]?.binIdx);
      expect(isRun(depth?.bids ?? [], -1) && isRun(depth?.asks ?? [], 1)).toBe(true);
    }
  });

  test('a batch gives what single requests give', async () => {
    for (const depth of [true, false]) {
      const results = await world.api.results(world.addresses, depth);
      const singles = await Promise.all(world.addresses.map((address) => world.api.quote(address, depth)));
      expect(results).toEqual(singles.map((quote) => ({ poolAddress: quote.poolAddress, quote })));
    }
  });
});

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const toWalkLevel = (level: Level) => {
  const { input, output } = amountsOf(level);
  return { cumulativeInput: input, cumulativeOutput: output };
};

/** Width of a bin against the price at its lower edge, in parts of 10^9, from the recipe alone. */
function relativeWidthE9Ceil({ bins, curBinDistFromProvidedPriceE6 }: PoolRecipe, index: number): bigint {
  const lengths = (low: number, high: number) =>
    bins.filter(({ bin }) => bin >= low && bin < high).reduce((sum, { lengthE6 }) => sum + lengthE6, 0);
  const lower = curBinDistFromProvidedPriceE6 + lengths(0, index) - lengths(index, 0);
  return BigInt(Math.ceil((lengths(index, index + 1) * 1e9) / (1e6 + lower)));
}

const isRun = (levels: readonly Level[], step: 1 | -1): boolean =>
  levels.every(({ binIdx }, index) => index === 0 || binIdx - (levels[index - 1]?.binIdx ?? Number.NaN) === step);
