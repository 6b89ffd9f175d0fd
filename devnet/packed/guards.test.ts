import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Q64 } from '../../protocol/fixed-point.ts';
import { routerAbi, stopLossAdminAbi } from '../abi.ts';
import { fundAccounts, noPriceLimit } from '../actions.ts';
import { mined, minedTogether, send, staticCall, submit } from '../dev-chain.ts';
import { swapAllowlistExtension, velocityExtension } from '../pools.ts';
import { packedStopLossAbi, packedVelocityAbi, quoteProviderAbi } from './abi.ts';
import { packedStopLossExtension } from './deploy.ts';
import { type MarketPool, ONE, PackedMarket, quoteAround, refusalOf } from './market.fixture.ts';
import { setQuote } from './providers.ts';
import { readPackedState } from './storage.fixture.ts';
import { PACKED_VARIANTS } from './variants.ts';

const E18 = 10n ** 18n;

describe.each(PACKED_VARIANTS.slice(0, 2))('guards of pools whose simulation takes $simulation', (variant) => {
  let market: PackedMarket;

  beforeAll(async () => {
    market = await PackedMarket.open(variant);
  });

  afterAll(() => market.setup.anvil.stop());

  /** A new quote, then what the guards make of it. */
  const movePrice = ({ provider }: MarketPool, hundredths: bigint) =>
    setQuote(market.setup.chain, provider, quoteAround(hundredths));

  describe('the stop loss', () => {
    const settings = { drawdownE6: 20_000, decayPerSecondE18: 0n, timelockSecs: 60 };
    const watched = (changed: Partial<typeof settings> = {}) =>
      market.fundedPool(() => [packedStopLossExtension(market.setup.deployment, { ...settings, ...changed })]);

    test('keeps values per share at bid and ask', async () => {
      const pool = await watched();
      await market.buy(pool, 50n * ONE);
      const { bidX64, askX64 } = quoteAround(200n);
      const { bins } = await readPackedState(market.setup.chain, pool.pool, [0]);
      const { balance0, balance1, shares } = bins.get(0) ?? { balance0: 0n, balance1: 0n, shares: 1n };
      const [perShare0, perShare1] = [(balance0 * E18) / shares, (balance1 * E18) / shares];
      const [token0, token1] = await watermarks(pool.pool, 0);
      expect(token0).toBe(perShare0 + (perShare1 * Q64) / bidX64);
      expect(token1).toBe((perShare0 * askX64) / Q64 + perShare1);
    });

    test('closes the side whose value fell, also in a simulation, and only that', async () => {
      const pool = await watched();
      await market.buy(pool, 50n * ONE);
      const [high] = await watermarks(pool.pool, 0);
      await movePrice(pool, 230n);
      const refusal = await refusalOf(market.sell(pool, ONE));
      const threshold = (high * (1_000_000n - 20_000n)) / 1_000_000n;
      expect(refusal).toEqual({ name: 'OracleStopLossTriggered', args: [0, true, expect.anything(), threshold] });
      expect(refusal.args[2]).toBeLessThan(threshold);
      expect(await market.simulatedSale(pool, ONE, quoteAround(230n))).toEqual(refusal);
      expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
    });

    test('forgives with time, in parts of 10^18', async () => {
      const pool = await watched({ decayPerSecondE18: 10n ** 14n });
      await market.buy(pool, 50n * ONE);
      await movePrice(pool, 230n);
      expect(await refusalOf(market.sell(pool, ONE))).toMatchObject({ name: 'OracleStopLossTriggered' });
      // A hundredth of a percent per second: 15% in 1500 seconds.
      await market.setup.chain.client.increaseTime({ seconds: 1_500 });
      expect((await market.sell(pool, ONE)).amount0Delta).toBe(ONE);
    });

    test('is off at drawdown zero, and changes after its timelock', async () => {
      const { chain, deployment } = market.setup;
      const pool = await watched({ drawdownE6: 0 });
      const change = (functionName: 'proposeDecay' | 'executeDecay') => {
        const data =
          functionName === 'proposeDecay'
            ? encodeFunctionData({ abi: stopLossAdminAbi, functionName, args: [pool.pool, 58n] })
            : encodeFunctionData({ abi: stopLossAdminAbi, functionName, args: [pool.pool] });
        return send(chain, { from: chain.roles.curator, to: deployment.stopLoss, data });
      };
      await market.buy(pool, 50n * ONE);
      await movePrice(pool, 300n);
      expect((await market.sell(pool, ONE)).amount0Delta).toBe(ONE);
      await change('proposeDecay');
      expect(await refusalOf(change('executeDecay'))).toMatchObject({
        name: 'TimelockNotOver',
      });
      await chain.client.increaseTime({ seconds: 61 });
      await change('executeDecay');
      const read = { abi: packedStopLossAbi, functionName: 'oracleStopLossConfig' } as const;
      const data = encodeFunctionData({ ...read, args: [pool.pool] });
      const answer = await staticCall(chain, { to: deployment.stopLoss, data });
      expect(decodeFunctionResult({ ...read, data: answer.data })).toEqual([0, 58n, 60, true]);
    });
  });

  describe('the velocity guard', () => {
    const guarded = (maxChangePerBlockE18: bigint) =>
      market.fundedPool(() => [velocityExtension(market.setup.deployment, maxChangePerBlockE18)]);

    test('measures from the last reference of an earlier block', async () => {
      const { chain } = market.setup;
      const pool = await guarded(10n ** 17n);
      const swapAt = async (hundredths: bigint): Promise<readonly [bigint, bigint]> => {
        await movePrice(pool, hundredths);
        await market.buy(pool, ONE);
        return [quoteAround(hundredths).referenceX64, await chain.client.getBlockNumber()];
      };
      const [first, firstBlock] = await swapAt(200n);
      expect(await velocityState(pool.pool)).toEqual([first, first, firstBlock, firstBlock, 10n ** 17n]);
      const [second, secondBlock] = await swapAt(202n);
      expect(await velocityState(pool.pool)).toEqual([first, second, firstBlock, secondBlock, 10n ** 17n]);
      const [third, thirdBlock] = await swapAt(201n);
      expect(await velocityState(pool.pool)).toEqual([second, third, secondBlock, thirdBlock, 10n ** 17n]);
    });

    test('refuses both sides after a jump, until enough blocks have passed', async () => {
      const { chain } = market.setup;
      const pool = await guarded(10n ** 16n);
      await market.buy(pool, ONE);
      const anchorBlock = await chain.client.getBlockNumber();
      await movePrice(pool, 210n);
      const blocks = (await chain.client.getBlockNumber()) - anchorBlock;
      const simulated = await market.simulatedSale(pool, ONE, quoteAround(210n));
      expect(simulated.name).toBe('PriceVelocityExceeded');
      const [actual, allowed] = simulated.args as [bigint, bigint];
      const from = quoteAround(200n).referenceX64;
      const change = ((quoteAround(210n).referenceX64 - from) * E18) / from;
      expect(actual).toBe(change ** 2n);
      // The node runs a call in the last block or in the next one.
      expect([1n + blocks, 2n + blocks]).toContain(allowed / 10n ** 32n);
      expect(await refusalOf(market.sell(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
      expect(await refusalOf(market.buy(pool, ONE))).toMatchObject({ name: 'PriceVelocityExceeded' });
      // 5% is five steps of 1%: a random walk needs 25 blocks.
      await chain.client.mine({ blocks: 25 });
      expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
    });

    test('lets no swap widen the room of another in its block', async () => {
      const { chain, deployment } = market.setup;
      const { owner } = chain.roles;
      for (const token of [market.token0, market.token1]) {
        await fundAccounts(chain, deployment, token, { accounts: [owner], amount: ONE ** 2n });
      }
      const pool = await guarded(10n ** 16n);
      await market.buy(pool, ONE);
      const quoteAndBuy = (hundredths: bigint) => {
        const args = [quoteAround(hundredths)] as const;
        const quote = encodeFunctionData({ abi: quoteProviderAbi, functionName: 'setQuote', args });
        const buy = [pool.pool, false, -ONE, noPriceLimit(false)] as const;
        const swap = encodeFunctionData({ abi: routerAbi, functionName: 'swap', args: buy });
        return [
          { from: owner, to: pool.provider, data: quote },
          { from: owner, to: deployment.swapRouter, data: swap },
        ];
      };
      const hashes: Hex[] = [];
      // One block later the room is 1.41%: 1.5% is too far from the anchor, though near to the swap before.
      await minedTogether(chain, async () => {
        for (const transaction of [...quoteAndBuy(201n), ...quoteAndBuy(203n), ...quoteAndBuy(202n)])
          hashes.push(await submit(chain, transaction));
      });
      const receipts = await Promise.all(hashes.map((hash) => mined(chain, hash)));
      expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1);
      const statuses = receipts.filter((_, index) => index % 2 === 1).map(({ status }) => status);
      expect(statuses).toEqual(['success', 'reverted', 'success']);
    });

    test('is off at zero', async () => {
      const pool = await guarded(0n);
      await market.buy(pool, ONE);
      await movePrice(pool, 300n);
      expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
    });
  });

  test('the swap allowlist looks at the sender that a simulation may name', async () => {
    const { deployment } = market.setup;
    const allowed = [deployment.swapRouter];
    const pool = await market.fundedPool(() => [swapAllowlistExtension(deployment, allowed)]);
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
    const quote = quoteAround(200n);
    expect(await market.simulatedSale(pool, ONE, quote)).toEqual({ name: 'NotAllowedToSwap', args: [] });
    const asRouter = await market.simulatedSale(pool, ONE, { ...quote, sender: deployment.swapRouter });
    expect(asRouter.name).toBe(variant.simulation === 'sender' ? 'SimulateSwap' : 'NotAllowedToSwap');
  });

  async function watermarks(pool: Address, bin: number): Promise<readonly [bigint, bigint]> {
    const read = { abi: packedStopLossAbi, functionName: 'highWatermarks' } as const;
    const data = encodeFunctionData({ ...read, args: [pool, bin] });
    const answer = await staticCall(market.setup.chain, { to: market.setup.deployment.stopLoss, data });
    const [token0, token1] = decodeFunctionResult({ ...read, data: answer.data });
    return [token0, token1];
  }

  async function velocityState(pool: Address): Promise<readonly bigint[]> {
    const read = { abi: packedVelocityAbi, functionName: 'priceVelocityState' } as const;
    const data = encodeFunctionData({ ...read, args: [pool] });
    const answer = await staticCall(market.setup.chain, { to: market.setup.deployment.priceVelocityGuard, data });
    return decodeFunctionResult({ ...read, data: answer.data });
  }
});
