import fc from 'fast-check';
import { parseEventLogs } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flatPoolAbi } from '../protocol/abi/pool.ts';
import { addLiquidity, administer, balanceOf, removeLiquidity, swap } from './actions.ts';
import { type Ground, multipliers, type PoolWords, poolOf, readWords, startGround } from './contracts.fixture.ts';
import { RevertedError } from './dev-chain.ts';
import { poolRecipe, type RandomPool } from './random-pool.ts';

const RUNS = 12;
const E6 = 1_000_000n;
const E8 = 100_000_000n;

let ground: Ground;

beforeAll(async () => {
  ground = await startGround();
});

afterAll(() => ground.anvil.stop());

const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('swap' as const),
      zeroForOne: fc.boolean(),
      exactInput: fc.boolean(),
      partE3: fc.integer({ min: 1, max: 1_300 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const), bin: fc.nat(11), partE3: fc.nat(2_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), bin: fc.nat(11), partE3: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('collect' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fees' as const),
      spreadE6: fc.integer({ min: 0, max: 500_000 }),
      notionalE8: fc.integer({ min: 0, max: 1_000_000 }),
      bin: fc.nat(11),
      addFee: fc.integer({ min: 0, max: 65_535 }),
    }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Does an action and tells whether the pool took it; one that it refuses changes nothing. */
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
  const { chain, deployment } = ground;
  const { curator, provider, stranger } = chain.roles;
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
    await administer(chain, deployment, stranger, 'collectPoolFees', [pool.address]);
  } else {
    const { bin } = binAt(what.bin);
    await administer(chain, deployment, curator, 'setPoolAdminFees', [pool.address, what.spreadE6, what.notionalE8]);
    const fees = [pool.address, bin, what.addFee, Math.floor(what.addFee / 2)] as const;
    await administer(chain, deployment, curator, 'setPoolBinAdditionalFees', fees);
  }
}

async function orderAmount(
  pool: RandomPool,
  { zeroForOne, exactInput, partE3 }: Extract<Action, { kind: 'swap' }>,
): Promise<bigint> {
  const { total0, total1 } = await readWords(ground, pool);
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const token0 = exactInput === zeroForOne;
  const amount = ((token0 ? total0 / multiplier0 : total1 / multiplier1) * BigInt(partE3)) / 1_000n + 1n;
  return exactInput ? amount : -amount;
}

describe('after any sequence of actions', () => {
  let taken = 0;
  let refused = 0;

  test('a pool holds what it owes, and its words are what its events say', async () => {
    const property = fc.asyncProperty(
      poolRecipe,
      fc.array(action, { minLength: 4, maxLength: 10 }),
      async (recipe, actions) => {
        const pool = await poolOf(ground, recipe);
        for (const what of actions) {
          if (await act(pool, what)) taken += 1;
          else refused += 1;
          await expectSolvent(pool);
        }
        const words = await readWords(ground, pool);
        expect(await replay(pool)).toEqual(summary(words));
      },
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    expect(taken).toBeGreaterThan(2 * refused);
  });

  test('whoever adds and removes at once gains nothing', async () => {
    const property = fc.asyncProperty(
      poolRecipe,
      fc.record({ bin: fc.nat(11), shares: fc.bigInt({ min: 1_000n, max: 10n ** 20n }) }),
      async (recipe, { bin: index, shares }) => {
        const pool = await poolOf(ground, recipe);
        const { trader } = ground.chain.roles;
        const bin = recipe.bins[index % recipe.bins.length]?.bin ?? 0;
        const order = { pool: pool.address, owner: trader, bins: [{ bin, shares }] };
        const before = await wallet(pool);
        await addLiquidity(ground.chain, ground.deployment, order);
        await removeLiquidity(ground.chain, order);
        const after = await wallet(pool);
        expect(after[0]).toBeLessThanOrEqual(before[0]);
        expect(after[1]).toBeLessThanOrEqual(before[1]);
        const [multiplier0, multiplier1] = multipliers(recipe);
        expect(before[0] - after[0]).toBeLessThanOrEqual(1n + 2n / multiplier0);
        expect(before[1] - after[1]).toBeLessThanOrEqual(1n + 2n / multiplier1);
      },
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  });
});

async function wallet({ token0, token1 }: RandomPool): Promise<readonly [bigint, bigint]> {
  const { trader } = ground.chain.roles;
  return [await balanceOf(ground.chain, token0, trader), await balanceOf(ground.chain, token1, trader)];
}

/** Tokens in the pool cover bins and accrued fees; the totals are the sums of the bins. */
async function expectSolvent(pool: RandomPool): Promise<void> {
  const words = await readWords(ground, pool);
  const [multiplier0, multiplier1] = multipliers(pool.recipe);
  const held0 = (await balanceOf(ground.chain, pool.token0, pool.address)) * multiplier0;
  const held1 = (await balanceOf(ground.chain, pool.token1, pool.address)) * multiplier1;
  expect(held0).toBeGreaterThanOrEqual(words.total0 + words.notional0);
  expect(held1).toBeGreaterThanOrEqual(words.total1 + words.notional1);
  const bins = [...words.bins.values()];
  expect(bins.reduce((sum, { balance0 }) => sum + balance0, 0n)).toBe(words.total0);
  expect(bins.reduce((sum, { balance1 }) => sum + balance1, 0n)).toBe(words.total1);
}

/** What events can tell of a pool's words. */
interface Summary {
  bin: bigint;
  position: bigint;
  distanceE6: bigint;
  notional0: bigint;
  notional1: bigint;
  spreadFeeE6: bigint;
  notionalFeeE8: bigint;
  readonly bins: Map<bigint, { balance0: bigint; balance1: bigint; shares: bigint; addFeeBuyE6: bigint }>;
}

function summary(words: PoolWords): Summary {
  const { bin, position, distanceE6, notional0, notional1, spreadFeeE6, notionalFeeE8 } = words;
  const bins = [...words.bins].map(([index, { balance0, balance1, shares, addFeeBuyE6 }]) => {
    return [index, { balance0, balance1, shares, addFeeBuyE6 }] as const;
  });
  return { bin, position, distanceE6, notional0, notional1, spreadFeeE6, notionalFeeE8, bins: new Map(bins) };
}

/** Rebuilds a pool from its recipe and its events alone. */
async function replay(pool: RandomPool): Promise<Summary> {
  const state = atCreation(pool);
  const logs = await ground.chain.client.getLogs({ address: pool.address, fromBlock: 0n });
  // Inputs before fees and outputs of the bins since the last Swap: what its notional fee is taken of.
  let net = 0n;
  let output = 0n;
  for (const { eventName, args } of parseEventLogs({ abi: flatPoolAbi, logs })) {
    if (eventName === 'LiquidityAdded' || eventName === 'LiquidityRemoved') {
      const sign = eventName === 'LiquidityAdded' ? 1n : -1n;
      for (const [i, index] of args.binIdxs.entries()) {
        const delta = args.binBalanceDeltas[i];
        change(state, index, delta?.delta0Scaled ?? 0n, delta?.delta1Scaled ?? 0n, sign * (args.shares[i] ?? 0n));
      }
    } else if (eventName === 'BinSwapped') {
      const { delta0Scaled, delta1Scaled } = args.delta;
      change(state, args.binIdx, delta0Scaled, delta1Scaled, 0n);
      net += (delta0Scaled > 0n ? delta0Scaled : delta1Scaled) - args.lpFeeAmount;
      output -= delta0Scaled > 0n ? delta1Scaled : delta0Scaled;
    } else if (eventName === 'Swap') {
      moveCursor(pool, state, BigInt(args.newTick), args.newPositionInBin);
      const fee = ((args.exactInput ? output : net) * state.notionalFeeE8) / E8;
      const zeroForOne = args.amount0Delta > 0n || args.amount1Delta < 0n;
      if (zeroForOne === args.exactInput) state.notional1 += fee;
      else state.notional0 += fee;
      [net, output] = [0n, 0n];
    } else if (eventName === 'SpreadFeeUpdated') state.spreadFeeE6 = BigInt(args.spreadFeeE6);
    else if (eventName === 'NotionalFeeUpdated') state.notionalFeeE8 = BigInt(args.notionalFeeE8);
    else if (eventName === 'ProtocolFeesCollected') [state.notional0, state.notional1] = [0n, 0n];
    else if (eventName === 'BinAdditionalFeesUpdated') {
      const bin = state.bins.get(BigInt(args.bin));
      if (bin !== undefined) bin.addFeeBuyE6 = BigInt(args.addFeeBuyE6);
    }
  }
  return state;
}

function atCreation({ recipe }: RandomPool): Summary {
  const bins = recipe.bins.map(({ bin, addFeeBuyE6 }) => {
    return [BigInt(bin), { balance0: 0n, balance1: 0n, shares: 0n, addFeeBuyE6: BigInt(addFeeBuyE6) }] as const;
  });
  return {
    ...{ bin: 0n, position: 0n, distanceE6: BigInt(recipe.curBinDistFromProvidedPriceE6) },
    ...{ notional0: 0n, notional1: 0n },
    spreadFeeE6: BigInt(recipe.adminSpreadFeeE6) + (20n * E6) / 100n,
    notionalFeeE8: BigInt(recipe.adminNotionalFeeE8) + 100n,
    bins: new Map(bins),
  };
}

function change(state: Summary, index: bigint, delta0: bigint, delta1: bigint, shares: bigint): void {
  const bin = state.bins.get(index);
  if (bin === undefined) throw new Error(`an event names the unknown bin ${index}`);
  bin.balance0 += delta0;
  bin.balance1 += delta1;
  bin.shares += shares;
}

function moveCursor({ recipe }: RandomPool, state: Summary, bin: bigint, position: bigint): void {
  const lengthOf = (index: bigint) => BigInt(recipe.bins.find((shape) => BigInt(shape.bin) === index)?.lengthE6 ?? 0);
  for (; state.bin < bin; state.bin++) state.distanceE6 += lengthOf(state.bin);
  for (; state.bin > bin; state.bin--) state.distanceE6 -= lengthOf(state.bin - 1n);
  state.position = position;
}
