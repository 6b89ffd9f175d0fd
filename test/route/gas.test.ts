import { expect, test } from 'vitest';
import { RoutePlan } from '../../api/route/route-response.ts';
import { startedWorld } from '../harness/open-world.ts';
import { startLiveWorld, updateAll, waitForLive, waitForUpdates } from '../live/live-world.ts';

/* What plans say of gas is what receipts of their swaps say, of both generations and directions. */

const world = startedWorld(() => startLiveWorld({ flatPools: 3, packedPools: 3 }));

/** A swap that empties a pool of a token, or brings the first of it, takes what no estimate of the pool knows. */
const MOST_E2 = 5n;

/** The plan over one pool. */
async function planOver(pool: string, fields: object): Promise<RoutePlan> {
  const { status, text } = await world.api.request('/public/v1/evm/31337/route', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ poolAddress: pool, ...fields }),
  });
  expect([status, text]).toEqual([200, text]);
  return RoutePlan.parse(JSON.parse(text));
}

test('the gas of a plan is within 5% of the receipt of its swap, small ones and of almost a whole side', async () => {
  const { market } = world;
  const { pools, token0, token1, builder } = market;
  const misses: string[] = [];
  let compared = 0;
  for (const zeroForOne of [true, false]) {
    const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0];
    for (const percent of [1n, 50n, 99n]) {
      await waitForUpdates(world, await updateAll(market, () => 200n));
      const { results } = await waitForLive(world);
      const orders = pools.flatMap((pool, index) => {
        const result = results[index];
        const depth = result && 'quote' in result ? result.quote.depth : undefined;
        const end = (zeroForOne ? depth?.bids : depth?.asks)?.at(-1)?.cumulativeInputVolume;
        return end ? [{ pool, amountIn: (BigInt(end) * percent) / 100n }] : [];
      });
      expect(orders.length).toBeGreaterThan(pools.length / 2);
      const price = { gasPriceWei: '1', nativePriceX64: (1n << 64n).toString() };
      const plans: RoutePlan[] = [];
      for (const { pool, amountIn } of orders) {
        plans.push(
          await planOver(pool.address, {
            tokenIn,
            tokenOut,
            tradeType: 'exact_in',
            amountIn: amountIn.toString(),
            ...price,
          }),
        );
      }
      const { trades } = await builder.buildBlock({
        trades: orders.map(({ pool, amountIn }) => market.trade(pool, { zeroForOne, amountSpecified: amountIn })),
      });
      for (const [index, plan] of plans.entries()) {
        const receipt = trades[index];
        expect(receipt?.status).toBe('success');
        expect(plan.gasCost).toBe(String(plan.gasEstimate));
        const [gas, used] = [BigInt(plan.gasEstimate ?? 0), receipt?.gasUsed ?? 0n];
        const off = gas > used ? gas - used : used - gas;
        if (off * 100n > used * MOST_E2)
          misses.push(`${orders[index]?.pool.layout} ${zeroForOne} ${percent}%: ${gas}, ${used}`);
        compared += 1;
      }
    }
  }
  expect(misses).toEqual([]);
  expect(compared).toBeGreaterThan(30);
});
