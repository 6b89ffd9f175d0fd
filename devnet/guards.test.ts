import fc from 'fast-check';
import { type Address, decodeErrorResult, encodeErrorResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { priceVelocityGuardAbi, stopLossAbi } from '../protocol/abi/extensions.ts';
import { flatPoolAbi } from '../protocol/abi/pool.ts';
import { providerAbi } from '../protocol/abi/providers.ts';
import { oracleAbi, quoterAbi, stopLossAdminAbi, velocityAdminAbi } from './abi.ts';
import {
  addLiquidity,
  administer,
  deployToken,
  fundAccounts,
  sellAndBuyPrices,
  simulateSwap,
  swap,
} from './actions.ts';
import { type Ground, poolOf, startGround } from './contracts.fixture.ts';
import { RevertedError, send, staticCall } from './dev-chain.ts';
import {
  createPool,
  depositAllowlistExtension,
  type ExtensionSpec,
  evenBins,
  NEVER,
  stopLossExtension,
  swapAllowlistExtension,
  velocityExtension,
} from './pools.ts';
import { deployAnchoredProvider, deployManualProvider, feedId, setFeedPrice, silenceFeed } from './providers.ts';
import { poolRecipe } from './random-pool.ts';

const errors = [
  ...flatPoolAbi,
  ...stopLossAbi,
  ...priceVelocityGuardAbi,
  ...providerAbi,
  ...oracleAbi,
  ...parseAbi([
    'error NotAllowedToDeposit()',
    'error ProviderIsImmutable()',
    'error TimelockNotOver(uint256 executeAfter)',
    'error OnlyPoolAdmin()',
    'error WrongPauseLevel(uint8 level)',
  ]),
];

const Q64 = 1n << 64n;
const ONE = 10n ** 18n;
const FEED = feedId('TEST/USD');

let ground: Ground;
let token0: Address;
let token1: Address;
let salt = 0;

beforeAll(async () => {
  ground = await startGround();
  const { chain, deployment } = ground;
  token0 = await deployToken(chain, { name: 'Zero', symbol: 'ZERO', decimals: 18 });
  token1 = await deployToken(chain, { name: 'One', symbol: 'ONE', decimals: 18 });
  const { trader, provider, stranger } = chain.roles;
  for (const token of [token0, token1]) {
    await fundAccounts(chain, deployment, token, { accounts: [trader, provider, stranger], amount: ONE ** 2n });
  }
});

afterAll(() => ground.anvil.stop());

interface TestPool {
  readonly pool: Address;
  readonly provider: Address;
}

/** A funded pool of nine bins of 1% around price 2, on an anchored provider. */
async function anchoredPool(extensions: readonly ExtensionSpec[] = [], timelock?: bigint): Promise<TestPool> {
  const { chain, deployment } = ground;
  await setFeedPrice(chain, deployment, { feedId: FEED, priceX64: 2n * Q64 });
  const provider = await deployAnchoredProvider(chain, deployment, { token0, token1, baseFeedId: FEED });
  const pool = await createPool(chain, deployment, {
    ...{ token0, token1, priceProvider: provider, bins: evenBins(-4, 4, 10_000), extensions },
    ...{ initialAmount0PerShareE18: ONE, initialAmount1PerShareE18: 2n * ONE },
    salt: `0x${(++salt).toString(16).padStart(64, '0')}`,
    ...(timelock === undefined ? {} : { priceProviderTimelock: timelock }),
  });
  const bins = evenBins(-4, 4, 0).map(({ bin }) => ({ bin, shares: 100n * ONE }));
  await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
  return { pool, provider };
}

/** Name and arguments of what an action reverts with. */
async function refusalOf(
  action: Promise<unknown>,
): Promise<{ readonly name: string; readonly args: readonly unknown[] }> {
  try {
    await action;
  } catch (error) {
    if (error instanceof RevertedError) return named(error.data);
    throw error;
  }
  throw new Error('the action was not refused');
}

function named(data: Hex): { readonly name: string; readonly args: readonly unknown[] } {
  const { errorName, args } = decodeErrorResult({ abi: errors, data });
  return { name: errorName, args: args ?? [] };
}

const buy = (pool: Address, amount: bigint) =>
  swap(ground.chain, ground.deployment, { pool, zeroForOne: false, amountSpecified: -amount });
const sell = (pool: Address, amount: bigint) =>
  swap(ground.chain, ground.deployment, { pool, zeroForOne: true, amountSpecified: amount });

/** Simulates at the provider's quote for this price, with the default spread and margin. */
async function simulated(pool: Address, zeroForOne: boolean, amountSpecified: bigint, priceX64 = 2n * Q64) {
  const bidX64 = (priceX64 * 9_998n) / 10_000n;
  const askX64 = (priceX64 * 10_002n) / 10_000n;
  return named(await simulateSwap(ground.chain, { pool, zeroForOne, amountSpecified, bidX64, askX64 }));
}

async function pricesRefusal(pool: Address): Promise<{ readonly name: string; readonly args: readonly unknown[] }> {
  const answer = await sellAndBuyPrices(ground.chain, pool);
  if (!('refusal' in answer)) throw new Error('the prices were not refused');
  return named(answer.refusal);
}

function movePrice(priceX64: bigint): Promise<void> {
  return setFeedPrice(ground.chain, ground.deployment, { feedId: FEED, priceX64 });
}

describe('price providers', () => {
  test('answer a pool, but nobody else', async () => {
    const { pool, provider } = await anchoredPool();
    const data = encodeFunctionData({ abi: providerAbi, functionName: 'getBidAndAskPrice' });
    expect(await staticCall(ground.chain, { to: provider, data })).toMatchObject({ reverted: true });
    expect(await staticCall(ground.chain, { from: pool, to: provider, data })).toMatchObject({ reverted: true });
    expect(await sellAndBuyPrices(ground.chain, pool)).toHaveProperty('sellX64');
    const inSwap = encodeFunctionData({ abi: flatPoolAbi, functionName: 'inSwap' });
    expect(BigInt((await staticCall(ground.chain, { to: pool, data: inSwap })).data)).toBe(0n);
  });

  test.each(['stop', 'takeDown'] as const)(
    'of a feed that was silenced (%s) fail, a simulation does not',
    async (how) => {
      const { pool } = await anchoredPool();
      await silenceFeed(ground.chain, ground.deployment, FEED, how);
      await ground.chain.client.increaseTime({ seconds: 16 });
      await ground.chain.client.mine({ blocks: 1 });
      const stalled = [encodeErrorResult({ abi: errors, errorName: 'FeedStalled' })];
      expect(await pricesRefusal(pool)).toEqual({ name: 'PriceProviderFailed', args: stalled });
      expect(await refusalOf(buy(pool, ONE))).toEqual({ name: 'PriceProviderFailed', args: stalled });
      expect(await simulated(pool, false, -ONE)).toMatchObject({ name: 'SimulateSwap' });
    },
  );

  test.each([
    ['crossed', 3n * Q64, 2n * Q64, 'BidGreaterThanAsk'],
    ['equal', 2n * Q64, 2n * Q64, 'BidGreaterThanAsk'],
    ['without a bid', 0n, 2n * Q64, 'BidIsZero'],
  ] as const)('whose quote is %s are refused by the pool', async (_, bidX64, askX64, name) => {
    const { chain, deployment } = ground;
    const priceProvider = await deployManualProvider(chain, { token0, token1 }, { bidX64, askX64 });
    const pool = await createPool(chain, deployment, {
      ...{ token0, token1, priceProvider, bins: evenBins(-1, 1, 1_000) },
      ...{ initialAmount0PerShareE18: ONE, initialAmount1PerShareE18: ONE },
      salt: `0x${(++salt).toString(16).padStart(64, '0')}`,
    });
    expect(await pricesRefusal(pool)).toEqual({ name, args: [] });
    expect(await refusalOf(buy(pool, ONE))).toEqual({ name, args: [] });
  });

  test('change after their timelock, and never when they are immutable', async () => {
    const { chain, deployment } = ground;
    const { curator, stranger } = chain.roles;
    const { pool, provider } = await anchoredPool([], 3_600n);
    expect(
      await refusalOf(administer(chain, deployment, stranger, 'proposePoolPriceProvider', [pool, provider])),
    ).toMatchObject({ name: 'OnlyPoolAdmin' });
    const next = await deployAnchoredProvider(chain, deployment, { token0, token1, baseFeedId: FEED });
    await administer(chain, deployment, curator, 'proposePoolPriceProvider', [pool, next]);
    expect(
      await refusalOf(administer(chain, deployment, curator, 'executePoolPriceProviderUpdate', [pool])),
    ).toMatchObject({ name: 'TimelockNotOver' });
    await chain.client.increaseTime({ seconds: 3_601 });
    await administer(chain, deployment, curator, 'executePoolPriceProviderUpdate', [pool]);
    expect(await sellAndBuyPrices(chain, pool)).toHaveProperty('sellX64');
    const fixed = await anchoredPool([], NEVER);
    expect(
      await refusalOf(administer(chain, deployment, curator, 'proposePoolPriceProvider', [fixed.pool, next])),
    ).toMatchObject({ name: 'ProviderIsImmutable' });
  });
});

describe('the stop loss', () => {
  const settings = { drawdownE6: 20_000, decayPerSecondE8: 0, timelockSecs: 60 };

  test('closes the side whose metric fell, and only that', async () => {
    const { pool } = await anchoredPool([stopLossExtension(ground.deployment, settings)]);
    await buy(pool, 50n * ONE);
    await movePrice((2n * Q64 * 115n) / 100n);
    // Token1 fell against token0, so value in token0 fell: sales of token0 are refused.
    const refusal = await refusalOf(sell(pool, ONE));
    expect(refusal).toMatchObject({
      name: 'OracleStopLossTriggered',
      args: [0, true, expect.anything(), expect.anything()],
    });
    expect(await simulated(pool, true, ONE, (2n * Q64 * 115n) / 100n)).toMatchObject({
      name: 'OracleStopLossTriggered',
    });
    const [, , metric, threshold] = refusal.args as [number, boolean, bigint, bigint];
    expect(metric).toBeLessThan(threshold);
    expect((await buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });

  test('stops a side part-way through a bin', async () => {
    const { pool } = await anchoredPool([stopLossExtension(ground.deployment, { ...settings, drawdownE6: 5_000 })]);
    await buy(pool, 350n * ONE);
    expect((await sell(pool, ONE)).amount0Delta).toBe(ONE);
    expect(await simulated(pool, true, 45n * ONE)).toMatchObject({ name: 'OracleStopLossTriggered' });
    // The live quote ends before the guard looks.
    const data = encodeFunctionData({ abi: quoterAbi, functionName: 'quote', args: [pool, true, 45n * ONE] });
    expect(await staticCall(ground.chain, { to: ground.deployment.quoter, data })).toMatchObject({ reverted: false });
  });

  test('forgives with time', async () => {
    const decaying = { ...settings, decayPerSecondE8: 10_000 };
    const { pool } = await anchoredPool([stopLossExtension(ground.deployment, decaying)]);
    await buy(pool, 50n * ONE);
    await movePrice((2n * Q64 * 115n) / 100n);
    expect(await refusalOf(sell(pool, ONE))).toMatchObject({ name: 'OracleStopLossTriggered' });
    // A hundredth of a percent per second: 15% in 1500 seconds.
    await ground.chain.client.increaseTime({ seconds: 1_500 });
    expect((await sell(pool, ONE)).amount0Delta).toBe(ONE);
  });

  test('is off at drawdown zero, and changes after its timelock', async () => {
    const { chain, deployment } = ground;
    const { pool } = await anchoredPool([stopLossExtension(deployment, { ...settings, drawdownE6: 0 })]);
    await buy(pool, 50n * ONE);
    await movePrice(3n * Q64);
    expect((await sell(pool, ONE)).amount0Delta).toBe(ONE);
    const change = (functionName: 'proposeDrawdown' | 'executeDrawdown') => {
      const data =
        functionName === 'proposeDrawdown'
          ? encodeFunctionData({ abi: stopLossAdminAbi, functionName, args: [pool, 150_000] })
          : encodeFunctionData({ abi: stopLossAdminAbi, functionName, args: [pool] });
      return send(chain, { from: chain.roles.curator, to: deployment.stopLoss, data });
    };
    await change('proposeDrawdown');
    expect(await refusalOf(change('executeDrawdown'))).toMatchObject({ name: 'TimelockNotOver' });
    await chain.client.increaseTime({ seconds: 61 });
    await change('executeDrawdown');
    const data = encodeFunctionData({ abi: stopLossAbi, functionName: 'oracleStopLossConfig', args: [pool] });
    const { data: words } = await staticCall(chain, { to: deployment.stopLoss, data });
    expect(BigInt(words.slice(0, 66))).toBe(150_000n);
  });
});

describe('the velocity guard', () => {
  test('refuses both sides after a jump, until enough blocks have passed', async () => {
    const { chain, deployment } = ground;
    const { pool } = await anchoredPool([velocityExtension(deployment, 10n ** 16n)]);
    await buy(pool, ONE);
    await movePrice((2n * Q64 * 105n) / 100n);
    const refusal = await refusalOf(buy(pool, ONE));
    expect(refusal.name).toBe('PriceVelocityExceeded');
    const [actual, allowed] = refusal.args as [bigint, bigint];
    // (5%)^2 against (1%)^2 for each block and one more.
    expect(Number(actual) / 1e36).toBeCloseTo(0.0025, 8);
    expect(allowed).toBeGreaterThanOrEqual(10n ** 32n);
    expect(allowed % 10n ** 32n).toBe(0n);
    expect(allowed).toBeLessThan(actual);
    expect(await refusalOf(sell(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
    expect(await simulated(pool, true, ONE, (2n * Q64 * 105n) / 100n)).toMatchObject({ name: 'PriceVelocityExceeded' });
    // 5% is five steps of 1%: a random walk needs 25 blocks.
    await chain.client.mine({ blocks: 25 });
    expect((await buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });

  test('obeys its new setting', async () => {
    const { chain, deployment } = ground;
    const { pool } = await anchoredPool([velocityExtension(deployment, 1n)]);
    await buy(pool, ONE);
    await movePrice((2n * Q64 * 105n) / 100n);
    expect(await refusalOf(buy(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
    const args = [pool, 10n ** 18n] as const;
    const data = encodeFunctionData({ abi: velocityAdminAbi, functionName: 'setMaxChangePerBlock', args });
    await send(chain, { from: chain.roles.curator, to: deployment.priceVelocityGuard, data });
    expect((await buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });
});

describe('allowlists', () => {
  test('of deposits look at the owner', async () => {
    const { chain, deployment } = ground;
    const { pool } = await anchoredPool([depositAllowlistExtension(deployment, [chain.roles.provider])]);
    const order = { pool, owner: chain.roles.stranger, bins: [{ bin: 0, shares: ONE }] };
    expect(await refusalOf(addLiquidity(chain, deployment, order))).toEqual({ name: 'NotAllowedToDeposit', args: [] });
  });

  test('of swaps look at the caller of the pool, also in a simulation', async () => {
    const { chain, deployment } = ground;
    const { pool } = await anchoredPool([swapAllowlistExtension(deployment, [deployment.swapRouter])]);
    expect((await buy(pool, ONE)).amount0Delta).toBe(-ONE);
    expect(await simulated(pool, false, -ONE)).toEqual({ name: 'NotAllowedToSwap', args: [] });
    const quote = { bidX64: 2n * Q64 - 9n, askX64: 2n * Q64 };
    const order = { pool, zeroForOne: false, amountSpecified: -ONE, from: deployment.swapRouter, ...quote };
    expect(named(await simulateSwap(chain, order))).toMatchObject({ name: 'SimulateSwap' });
  });
});

describe('a pause', () => {
  test('stops swaps, not prices nor simulations; levels are those of admin and protocol', async () => {
    const { chain, deployment } = ground;
    const { curator, owner } = chain.roles;
    const { pool } = await anchoredPool();
    await administer(chain, deployment, curator, 'pausePool', [pool]);
    expect(await refusalOf(buy(pool, ONE))).toEqual({ name: 'PoolPaused', args: [] });
    expect(await sellAndBuyPrices(chain, pool)).toHaveProperty('sellX64');
    expect(await simulated(pool, false, -ONE)).toMatchObject({ name: 'SimulateSwap' });
    await administer(chain, deployment, owner, 'protocolPausePool', [pool]);
    expect(await refusalOf(administer(chain, deployment, curator, 'unpausePool', [pool]))).toEqual({
      ...{ name: 'WrongPauseLevel', args: [2] },
    });
    await administer(chain, deployment, owner, 'protocolUnpausePool', [pool]);
    await administer(chain, deployment, curator, 'unpausePool', [pool]);
    expect((await buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });
});

test('amounts that cannot be are refused', async () => {
  const { pool } = await anchoredPool();
  expect(await refusalOf(sell(pool, 0n))).toEqual({ name: 'InvalidAmount', args: [] });
  const [recipe] = fc.sample(
    poolRecipe.map((any) => ({ ...any, decimals0: 6 })),
    { numRuns: 1, seed: 1 },
  );
  if (recipe === undefined) throw new Error('no recipe');
  const { address } = await poolOf(ground, recipe);
  expect(await refusalOf(sell(address, (1n << 127n) - 1n))).toEqual({ name: 'AmountScaledExceedsMax', args: [] });
});
