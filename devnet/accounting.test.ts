import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { addLiquidity, administer, balanceOf, removeLiquidity, swap } from './actions.ts';
import { multipliers, type PoolWords, poolOf, readWords, type Setup, startSetup } from './contracts.fixture.ts';
import { RevertedError, takenBack } from './dev-chain.ts';
import { replay, type SwapRecord, summary } from './event-replay.fixture.ts';
import { type Action, actionOf } from './pool-actions.fixture.ts';
import { type PoolRecipe, poolRecipe, type RandomPool } from './random-pool.ts';

const RUNS = runs(6);

let setup: Setup;

beforeAll(async () => {
  setup = await startSetup();
});

afterAll(() => setup.anvil.stop());

const action = actionOf({ swap: 5, liquidity: 2 });

/** Does an action and returns whether the pool took it; one that it refuses changes nothing. */
async function act(pool: RandomPool, what: Action): Promise<boolean> {
  try {
    await attempt(pool, what);
    return true;
  } catch (error) {
    if (!(error instanceof RevertedError)) throw error;
    return false;
  }
}

async function attempt(pool: RandomPool, what: Action): Promise<void> {
  const { chain, deployment } = setup;
  const { curator, provider, untrusted } = chain.roles;
  const bins = pool.recipe.bins;
  const binAt = (index: number) => bins[index % bins.length] ?? { bin: 0, shares: 0n };
  if (what.kind === 'swap') {
    const amountSpecified = await orderAmount(pool, what);
    await swap(chain, deployment, { pool: pool.address, zeroForOne: what.zeroForOne, amountSpecified });
  } else if (what.kind === 'add') {
    const { bin, shares } = binAt(what.bin);
    const added = (shares * BigInt(what.partE3)) / 1_000n + 1_000n;
    await addLiquidity(chain, deployment, { pool: pool.address, owner: provider, bins: [{ bin, shares: added }] });
  } else if (what.kind === 'remove') {
    const { bin, shares } = binAt(what.bin);
    const removed = (shares * BigInt(what.partE3)) / 1_000n;
    await removeLiquidity(chain, { pool: pool.address, owner: provider, bins: [{ bin, shares: removed }] });
  } else if (what.kind === 'collect') {
    await administer(chain, deployment, { from: untrusted, functionName: 'collectPoolFees', args: [pool.address] });
  } else {
    const { bin } = binAt(what.bin);
    await administer(chain, deployment, {
      from: curator,
      functionName: 'setPoolAdminFees',
      args: [pool.address, what.spreadE6, what.notionalE8],
    });
    const fees = [pool.address, bin, what.addFee, Math.floor(what.addFee / 2)] as const;
    await administer(chain, deployment, { from: curator, functionName: 'setPoolBinAdditionalFees', args: fees });
  }
}

async function orderAmount(
  pool: RandomPool,
  { zeroForOne, exactInput, partE3 }: Extract<Action, { kind: 'swap' }>,
): Promise<bigint> {
  const { total0, total1 } = await readWords(setup, pool);
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const token0 = exactInput === zeroForOne;
  const amount = ((token0 ? total0 / multiplier0 : total1 / multiplier1) * BigInt(partE3)) / 1_000n + 1n;
  return exactInput ? amount : -amount;
}

/** Checks the pool of a recipe, and takes it off the chain again. */
function onFreshPool<T>(check: (pool: RandomPool, value: T) => Promise<void>) {
  return (recipe: PoolRecipe, value: T) =>
    takenBack(setup.chain, async () => check(await poolOf(setup, recipe), value));
}

describe('after any sequence of actions', () => {
  let taken = 0;
  let rejected = 0;

  test('a pool holds what it owes, and its words are what its events say', async () => {
    const property = fc.asyncProperty(
      poolRecipe,
      fc.array(action, { minLength: 4, maxLength: 10 }),
      onFreshPool(async (pool, actions) => {
        for (const what of actions) {
          const before = await readWords(setup, pool);
          if (await act(pool, what)) taken += 1;
          else rejected += 1;
          const after = await readWords(setup, pool);
          await expectSolvent(pool, after);
          if (what.kind === 'add' || what.kind === 'remove') expectUndiluted(before, after);
        }
        const words = await readWords(setup, pool);
        const { state, swaps } = await replay(setup, pool);
        expect(state).toEqual(summary(words));
        for (const record of swaps) expectRoundedForPool(record, pool);
      }),
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    expect(taken).toBeGreaterThan(2 * rejected);
  });

  test('whoever adds and removes at once gains nothing', async () => {
    const property = fc.asyncProperty(
      poolRecipe,
      fc.record({ bin: fc.nat(11), shares: fc.bigInt({ min: 1_000n, max: 10n ** 20n }) }),
      onFreshPool(async (pool, { bin: index, shares }) => {
        const { recipe } = pool;
        const { trader } = setup.chain.roles;
        const bin = recipe.bins[index % recipe.bins.length]?.bin ?? 0;
        const order = { pool: pool.address, owner: trader, bins: [{ bin, shares }] };
        const before = await wallet(pool);
        await addLiquidity(setup.chain, setup.deployment, order);
        await removeLiquidity(setup.chain, order);
        const after = await wallet(pool);
        expect(after[0]).toBeLessThanOrEqual(before[0]);
        expect(after[1]).toBeLessThanOrEqual(before[1]);
        const [multiplier0, multiplier1] = multipliers(recipe);
        expect(before[0] - after[0]).toBeLessThanOrEqual(1n + 2n / multiplier0);
        expect(before[1] - after[1]).toBeLessThanOrEqual(1n + 2n / multiplier1);
      }),
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  });
});

async function wallet({ token0, token1 }: RandomPool): Promise<readonly [bigint, bigint]> {
  const { trader } = setup.chain.roles;
  return [await balanceOf(setup.chain, token0, trader), await balanceOf(setup.chain, token1, trader)];
}

/** Tokens in the pool cover bins and accrued fees; the totals are the sums of the bins. */
async function expectSolvent(pool: RandomPool, words: PoolWords): Promise<void> {
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const held0 = (await balanceOf(setup.chain, pool.token0, pool.address)) * multiplier0;
  const held1 = (await balanceOf(setup.chain, pool.token1, pool.address)) * multiplier1;
  expect(held0).toBeGreaterThanOrEqual(words.total0 + words.notional0);
  expect(held1).toBeGreaterThanOrEqual(words.total1 + words.notional1);
  const bins = [...words.bins.values()];
  expect(bins.reduce((sum, { balance0 }) => sum + balance0, 0n)).toBe(words.total0);
  expect(bins.reduce((sum, { balance1 }) => sum + balance1, 0n)).toBe(words.total1);
}

/** A share of a bin is worth no less after somebody added or removed. */
function expectUndiluted(before: PoolWords, after: PoolWords): void {
  for (const [index, was] of before.bins) {
    const is = after.bins.get(index);
    if (is === undefined || is.shares === 0n) continue;
    expect(is.balance0 * was.shares).toBeGreaterThanOrEqual(was.balance0 * is.shares);
    expect(is.balance1 * was.shares).toBeGreaterThanOrEqual(was.balance1 * is.shares);
  }
}

/** Raw amounts are the scaled ones: up for what comes in, down for what goes out, by less than a raw unit. */
function expectRoundedForPool(
  { zeroForOne, owedScaled, dueScaled, ...amounts }: SwapRecord,
  { recipe }: RandomPool,
): void {
  const [multiplier0, multiplier1] = multipliers(recipe);
  const paid0 = amounts.amount0Delta * multiplier0 - (zeroForOne ? owedScaled : -dueScaled);
  const paid1 = amounts.amount1Delta * multiplier1 - (zeroForOne ? -dueScaled : owedScaled);
  for (const [excess, multiplier] of [
    [paid0, multiplier0],
    [paid1, multiplier1],
  ] as const) {
    expect(excess).toBeGreaterThanOrEqual(0n);
    expect(excess).toBeLessThan(multiplier);
  }
}
