import fc from 'fast-check';
import { type Address, encodeErrorResult, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Q64 } from '../protocol/fixed-point.ts';
import { administer, sellAndBuyPrices } from './actions.ts';
import { AnchoredMarket, errors, FEED, named, ONE, refusalOf } from './anchored-market.fixture.ts';
import { poolOf } from './contracts.fixture.ts';
import { staticCall } from './dev-chain.ts';
import { NEVER } from './pools.ts';
import { flatPoolAbi, providerAbi } from './protocol-abi.ts';
import { deployManualProvider, silenceFeed } from './providers.ts';
import { poolRecipe } from './random-pool.ts';
import type { NamedError } from './refusals.fixture.ts';

let market: AnchoredMarket;

beforeAll(async () => {
  market = await AnchoredMarket.open();
});

afterAll(() => market.setup.anvil.stop());

async function pricesRefusal(pool: Address): Promise<NamedError> {
  const answer = await sellAndBuyPrices(market.setup.chain, pool);
  if (!('refusal' in answer)) throw new Error('the prices were not refused');
  return named(answer.refusal);
}

describe('price providers', () => {
  test('answer a pool, but nobody else', async () => {
    const { pool, provider } = await market.fundedPool();
    const data = encodeFunctionData({ abi: providerAbi, functionName: 'getBidAndAskPrice' });
    expect(await staticCall(market.setup.chain, { to: provider, data })).toMatchObject({ reverted: true });
    expect(await staticCall(market.setup.chain, { from: pool, to: provider, data })).toMatchObject({ reverted: true });
    expect(await sellAndBuyPrices(market.setup.chain, pool)).toHaveProperty('sellX64');
    const inSwap = encodeFunctionData({ abi: flatPoolAbi, functionName: 'inSwap' });
    expect(BigInt((await staticCall(market.setup.chain, { to: pool, data: inSwap })).data)).toBe(0n);
  });

  test.each(['stop', 'takeDown'] as const)(
    'of a feed that was silenced (%s) fail, a simulation does not',
    async (how) => {
      const { pool } = await market.fundedPool();
      await silenceFeed(market.setup.chain, market.setup.deployment, FEED, how);
      await market.setup.chain.client.increaseTime({ seconds: 16 });
      await market.setup.chain.client.mine({ blocks: 1 });
      const stalled = [encodeErrorResult({ abi: errors, errorName: 'FeedStalled' })];
      expect(await pricesRefusal(pool)).toEqual({ name: 'PriceProviderFailed', args: stalled });
      expect(await refusalOf(market.buy(pool, ONE))).toEqual({ name: 'PriceProviderFailed', args: stalled });
      expect(await market.simulated(pool, false, -ONE)).toMatchObject({ name: 'SimulateSwap' });
    },
  );

  test.each([
    ['crossed', 3n * Q64, 2n * Q64, 'BidGreaterThanAsk'],
    ['equal', 2n * Q64, 2n * Q64, 'BidGreaterThanAsk'],
    ['without a bid', 0n, 2n * Q64, 'BidIsZero'],
  ] as const)('whose quote is %s are refused by the pool', async (_, bidX64, askX64, name) => {
    const { chain } = market.setup;
    const priceProvider = await deployManualProvider(chain, market, { bidX64, askX64 });
    const pool = await market.createPool({ priceProvider });
    expect(await pricesRefusal(pool)).toEqual({ name, args: [] });
    expect(await refusalOf(market.buy(pool, ONE))).toEqual({ name, args: [] });
  });

  test('change after their timelock, and never when they are immutable', async () => {
    const { chain, deployment } = market.setup;
    const { curator, untrusted } = chain.roles;
    const { pool, provider } = await market.fundedPool([], { priceProviderTimelock: 3_600n });
    expect(
      await refusalOf(
        administer(chain, deployment, {
          from: untrusted,
          functionName: 'proposePoolPriceProvider',
          args: [pool, provider],
        }),
      ),
    ).toMatchObject({ name: 'OnlyPoolAdmin' });
    const next = await market.deployProvider();
    await administer(chain, deployment, {
      from: curator,
      functionName: 'proposePoolPriceProvider',
      args: [pool, next],
    });
    expect(
      await refusalOf(
        administer(chain, deployment, { from: curator, functionName: 'executePoolPriceProviderUpdate', args: [pool] }),
      ),
    ).toMatchObject({ name: 'TimelockNotOver' });
    await chain.client.increaseTime({ seconds: 3_601 });
    await administer(chain, deployment, {
      from: curator,
      functionName: 'executePoolPriceProviderUpdate',
      args: [pool],
    });
    expect(await sellAndBuyPrices(chain, pool)).toHaveProperty('sellX64');
    const fixed = await market.fundedPool([], { priceProviderTimelock: NEVER });
    expect(
      await refusalOf(
        administer(chain, deployment, {
          from: curator,
          functionName: 'proposePoolPriceProvider',
          args: [fixed.pool, next],
        }),
      ),
    ).toMatchObject({ name: 'ProviderIsImmutable' });
  });
});

describe('a pause', () => {
  test('stops swaps, not prices nor simulations; levels are those of admin and protocol', async () => {
    const { chain, deployment } = market.setup;
    const { curator, owner } = chain.roles;
    const { pool } = await market.fundedPool();
    await administer(chain, deployment, { from: curator, functionName: 'pausePool', args: [pool] });
    expect(await refusalOf(market.buy(pool, ONE))).toEqual({ name: 'PoolPaused', args: [] });
    expect(await sellAndBuyPrices(chain, pool)).toHaveProperty('sellX64');
    expect(await market.simulated(pool, false, -ONE)).toMatchObject({ name: 'SimulateSwap' });
    await administer(chain, deployment, { from: owner, functionName: 'protocolPausePool', args: [pool] });
    expect(
      await refusalOf(administer(chain, deployment, { from: curator, functionName: 'unpausePool', args: [pool] })),
    ).toEqual({
      name: 'WrongPauseLevel',
      args: [2],
    });
    await administer(chain, deployment, { from: owner, functionName: 'protocolUnpausePool', args: [pool] });
    await administer(chain, deployment, { from: curator, functionName: 'unpausePool', args: [pool] });
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });
});

test('amounts that cannot be are refused', async () => {
  const { pool } = await market.fundedPool();
  expect(await refusalOf(market.sell(pool, 0n))).toEqual({ name: 'InvalidAmount', args: [] });
  const [recipe] = fc.sample(
    poolRecipe.map((any) => ({ ...any, decimals0: 6 })),
    { numRuns: 1, seed: 1 },
  );
  if (recipe === undefined) throw new Error('no recipe');
  const { address } = await poolOf(market.setup, recipe);
  expect(await refusalOf(market.sell(address, (1n << 127n) - 1n))).toEqual({
    name: 'AmountScaledExceedsMax',
    args: [],
  });
});
