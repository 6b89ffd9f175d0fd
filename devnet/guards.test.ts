import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Q64 } from '../protocol/fixed-point.ts';
import { quoterAbi, stopLossAdminAbi, velocityAdminAbi } from './abi.ts';
import { addLiquidity, simulateSwap } from './actions.ts';
import { AnchoredMarket, named, ONE, refusalOf } from './anchored-market.fixture.ts';
import { send, staticCall } from './dev-chain.ts';
import { depositAllowlistExtension, stopLossExtension, swapAllowlistExtension, velocityExtension } from './pools.ts';
import { stopLossAbi } from './protocol-abi.ts';

let market: AnchoredMarket;

beforeAll(async () => {
  market = await AnchoredMarket.open();
});

afterAll(() => market.setup.anvil.stop());

describe('the stop loss', () => {
  const settings = { drawdownE6: 20_000, decayPerSecondE8: 0, timelockSecs: 60 };

  test('closes the side whose metric fell, and only that', async () => {
    const { pool } = await market.fundedPool([stopLossExtension(market.setup.deployment, settings)]);
    await market.buy(pool, 50n * ONE);
    await market.movePrice((2n * Q64 * 115n) / 100n);
    // Token1 fell against token0, so value in token0 fell: sales of token0 are refused.
    const refusal = await refusalOf(market.sell(pool, ONE));
    expect(refusal).toMatchObject({
      name: 'OracleStopLossTriggered',
      args: [0, true, expect.anything(), expect.anything()],
    });
    expect(await market.simulated(pool, true, ONE, (2n * Q64 * 115n) / 100n)).toMatchObject({
      name: 'OracleStopLossTriggered',
    });
    const [, , metric, threshold] = refusal.args as [number, boolean, bigint, bigint];
    expect(metric).toBeLessThan(threshold);
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });

  test('stops a side part-way through a bin', async () => {
    const { pool } = await market.fundedPool([
      stopLossExtension(market.setup.deployment, { ...settings, drawdownE6: 5_000 }),
    ]);
    await market.buy(pool, 350n * ONE);
    expect((await market.sell(pool, ONE)).amount0Delta).toBe(ONE);
    expect(await market.simulated(pool, true, 45n * ONE)).toMatchObject({ name: 'OracleStopLossTriggered' });
    // The live quote ends before the guard looks.
    const data = encodeFunctionData({ abi: quoterAbi, functionName: 'quote', args: [pool, true, 45n * ONE] });
    expect(await staticCall(market.setup.chain, { to: market.setup.deployment.quoter, data })).toMatchObject({
      reverted: false,
    });
  });

  test('forgives with time', async () => {
    const decaying = { ...settings, decayPerSecondE8: 10_000 };
    const { pool } = await market.fundedPool([stopLossExtension(market.setup.deployment, decaying)]);
    await market.buy(pool, 50n * ONE);
    await market.movePrice((2n * Q64 * 115n) / 100n);
    expect(await refusalOf(market.sell(pool, ONE))).toMatchObject({ name: 'OracleStopLossTriggered' });
    // A hundredth of a percent per second: 15% in 1500 seconds.
    await market.setup.chain.client.increaseTime({ seconds: 1_500 });
    expect((await market.sell(pool, ONE)).amount0Delta).toBe(ONE);
  });

  test('is off at drawdown zero, and changes after its timelock', async () => {
    const { chain, deployment } = market.setup;
    const { pool } = await market.fundedPool([stopLossExtension(deployment, { ...settings, drawdownE6: 0 })]);
    await market.buy(pool, 50n * ONE);
    await market.movePrice(3n * Q64);
    expect((await market.sell(pool, ONE)).amount0Delta).toBe(ONE);
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
    const { chain, deployment } = market.setup;
    const { pool } = await market.fundedPool([velocityExtension(deployment, 10n ** 16n)]);
    await market.buy(pool, ONE);
    await market.movePrice((2n * Q64 * 105n) / 100n);
    const refusal = await refusalOf(market.buy(pool, ONE));
    expect(refusal.name).toBe('PriceVelocityExceeded');
    const [actual, allowed] = refusal.args as [bigint, bigint];
    // (5%)^2 against (1%)^2 for each block and one more.
    expect(Number(actual) / 1e36).toBeCloseTo(0.0025, 8);
    expect(allowed).toBeGreaterThanOrEqual(10n ** 32n);
    expect(allowed % 10n ** 32n).toBe(0n);
    expect(allowed).toBeLessThan(actual);
    expect(await refusalOf(market.sell(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
    expect(await market.simulated(pool, true, ONE, (2n * Q64 * 105n) / 100n)).toMatchObject({
      name: 'PriceVelocityExceeded',
    });
    // 5% is five steps of 1%: a random walk needs 25 blocks.
    await chain.client.mine({ blocks: 25 });
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });

  test('obeys its new setting', async () => {
    const { chain, deployment } = market.setup;
    const { pool } = await market.fundedPool([velocityExtension(deployment, 1n)]);
    await market.buy(pool, ONE);
    await market.movePrice((2n * Q64 * 105n) / 100n);
    expect(await refusalOf(market.buy(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
    const args = [pool, 10n ** 18n] as const;
    const data = encodeFunctionData({ abi: velocityAdminAbi, functionName: 'setMaxChangePerBlock', args });
    await send(chain, { from: chain.roles.curator, to: deployment.priceVelocityGuard, data });
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });
});

describe('allowlists', () => {
  test('of deposits look at the owner', async () => {
    const { chain, deployment } = market.setup;
    const { pool } = await market.fundedPool([depositAllowlistExtension(deployment, [chain.roles.provider])]);
    const order = { pool, owner: chain.roles.untrusted, bins: [{ bin: 0, shares: ONE }] };
    expect(await refusalOf(addLiquidity(chain, deployment, order))).toEqual({ name: 'NotAllowedToDeposit', args: [] });
  });

  test('of swaps look at the caller of the pool, also in a simulation', async () => {
    const { chain, deployment } = market.setup;
    const { pool } = await market.fundedPool([swapAllowlistExtension(deployment, [deployment.swapRouter])]);
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
    expect(await market.simulated(pool, false, -ONE)).toEqual({ name: 'NotAllowedToSwap', args: [] });
    const quote = { bidX64: 2n * Q64 - 9n, askX64: 2n * Q64 };
    const order = { pool, zeroForOne: false, amountSpecified: -ONE, from: deployment.swapRouter, ...quote };
    expect(named(await simulateSwap(chain, order))).toMatchObject({ name: 'SimulateSwap' });
  });
});
