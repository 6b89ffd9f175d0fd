import type { TransactionReceipt } from 'viem';
import { expect, test, vi } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, paidBy, startLiveStream, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { decodeBuilderFrame } from './decoders.ts';

/* What frames say of a pair besides its levels is what trades in the block being built do. */

const world = startedWorld(() => startLiveWorld({ flatPools: 3, packedPools: 3 }));
const api = startedWorld(() => startLiveStream(world));
const asked = batchesOf(api);

test('the smallest input of a pair fills, a unit less does not, and its gas is that of the whole side', {
  timeout: 240_000,
}, async () => {
  const { market } = world;
  const { builder, pools } = market;
  const named = pools.map(({ address }) => address).join();
  const numberOf = (value: unknown): bigint => BigInt(value as string | bigint);
  const sidesOf = async () => {
    await waitForUpdates(world, await updateAll(market, () => 200n), asked);
    // What nodes do not give in time is of the last block.
    const response = await vi.waitFor(async () => {
      const read = await fetch(`${api.base}/price_levels?pools=${named}`);
      expect(read.headers.get('X-Quote-Basis')).toBe('live');
      return read;
    });
    const { pairs } = decodeBuilderFrame(await response.text());
    return pools.flatMap((pool, index) => {
      const sides = pairs.filter(({ pamm }) => pamm === pool.address);
      const side = sides[index % sides.length];
      return side ? [{ pool, ...side }] : [];
    });
  };
  const trade = async (amountOf: (side: Awaited<ReturnType<typeof sidesOf>>[number]) => bigint) => {
    const sides = (await sidesOf()).filter((side) => side.skipped.minAmountIn !== null && amountOf(side) > 0n);
    const { trades } = await builder.buildBlock({
      trades: sides.map((side) =>
        market.trade(side.pool, {
          zeroForOne: side.tokenIn === market.token0,
          amountSpecified: amountOf(side),
        }),
      ),
    });
    return sides.map((side, index) => ({ ...side, receipt: trades[index] as TransactionReceipt }));
  };
  const paid = ({ pool, tokenIn, receipt }: Awaited<ReturnType<typeof trade>>[number]) =>
    receipt.status === 'success' ? paidBy(market, receipt, pool.address, tokenIn === market.token0) : 0n;
  const smallest = (await trade(({ skipped }) => numberOf(skipped.minAmountIn))).map(paid);
  expect(smallest.filter((amount) => amount === 0n)).toEqual([]);
  expect(smallest.length).toBeGreaterThan(pools.length / 2);
  const smaller = (await trade(({ skipped }) => numberOf(skipped.minAmountIn) - 1n)).map(paid);
  expect(smaller.length).toBeGreaterThan(1);
  expect(smaller.filter((amount) => amount > 0n)).toEqual([]);
  // Where nodes do not answer in time, gas is measured again in a minute.
  const unmeasured = async () => (await sidesOf()).filter(({ skipped }) => skipped.gas === null);
  await expect.poll(unmeasured, { timeout: 90_000 }).toEqual([]);
  const whole = await trade(({ levels }) => levels.at(-1)?.amountIn ?? 0n);
  for (const { skipped, receipt } of whole) {
    expect(numberOf(skipped.gas)).toBeLessThan(receipt.gasUsed);
    expect(numberOf(skipped.gas)).toBeGreaterThan(receipt.gasUsed - 120_000n);
  }
});
