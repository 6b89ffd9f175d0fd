import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { RoutePlan } from '../../api/route/route-response.ts';
import { swap } from '../../devnet/actions.ts';
import { takenBack } from '../../devnet/dev-chain.ts';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import {
  chainConfig,
  evenShares,
  makeCutPool,
  makePool,
  movePrice,
  type Pair,
  type QuoteWorld,
  quoteWorld,
  SHARES_OF_ONE,
} from '../quotes/quote-world.ts';
import { directoryOf } from '../quotes/served-pool.ts';
import { postRoute, routeApp } from './route-app.ts';

/*
 * Guards cut the pools of this market part-way, one of them with a hole: more of it would fill than some of it.
 * Whatever a plan wants of them executes.
 */

const world = quoteWorld(async (on) => {
  const pair = await on.pair(18, 6);
  const third = await on.pair(18, 18);
  const other = { token0: pair.token1, token1: third.token0, decimals0: 6, decimals1: 18 };
  const guarded = [(await makeCutPool(on, pair, 40, 12)).address, await poolWithHole(on, pair)];
  const plain = [
    await makePool(on, { pair, price: 2_040, bins: evenBins(-3, 3, 900) }),
    await makePool(on, {
      pair: other,
      price: 0.5,
      bins: evenBins(-3, 3, 500),
      shares: evenShares(-3, 3, 20_000n * SHARES_OF_ONE),
    }),
  ];
  const app = routeApp({
    chain: chainConfig(31337, [on.anvil.url]),
    directory: await directoryOf(on, [...guarded, ...plain.map(({ address }) => address)]),
    routing: { splitThresholdE6: 0, minImprovementE6: 1 },
  });
  return { tokens: { pair, other }, guarded, app };
});

/** Buys and sales at changing prices leave watermarks that a fall of the price by 5 % meets inside some bins. */
async function poolWithHole(on: QuoteWorld, pair: Pair): Promise<Address> {
  const { chain, deployment } = on;
  const settings = { drawdownE6: 50_000, decayPerSecondE8: 0, timelockSecs: 100 };
  const pool = await makePool(on, {
    pair,
    price: 2_152,
    bins: evenBins(-6, 5, 800),
    extensions: [stopLossExtension(deployment, settings)],
  });
  const whole = 6n * 10n ** 18n;
  for (const [zeroForOne, amountSpecified] of [
    [false, -(whole * 90n) / 100n],
    [true, (whole * 30n) / 100n],
    [true, (whole * 20n) / 100n],
  ] as const) {
    await swap(chain, deployment, { pool: pool.address, zeroForOne, amountSpecified });
  }
  await movePrice(on, pool, 2_152 * 0.9495);
  return pool.address;
}

/** Executes a plan's legs in order and puts the chain back; throws when one is refused. */
function execute(plan: RoutePlan): Promise<void> {
  return takenBack(world.chain, async () => {
    for (const { poolAddress, zeroForOne, amountIn, amountOut } of plan.routes.flatMap(({ legs }) => legs)) {
      const amountSpecified = plan.tradeType === 'exact_in' ? BigInt(amountIn) : -BigInt(amountOut);
      await swap(world.chain, world.deployment, { pool: poolAddress as Address, zeroForOne, amountSpecified });
    }
  });
}

test('every planned leg through guarded pools executes', async () => {
  const { guarded, app } = world;
  const { pair, other } = world.tokens;
  const uses = new Map(guarded.map((pool) => [pool, 0]));
  let splits = 0;
  for (const [tokenIn, tokenOut, unit] of [
    [pair.token0, pair.token1, 10n ** 15n],
    [pair.token1, pair.token0, 2n * 10n ** 6n],
    [pair.token0, other.token1, 10n ** 15n],
    [other.token1, pair.token0, 10n ** 18n],
  ] as const) {
    for (const size of [1n, 37n, 400n, 1_000n, 2_100n, 5_003n, 8_000n, 11_000n]) {
      const { status, body } = await postRoute(app, { tokenIn, tokenOut, amountIn: (unit * size).toString() });
      if (status === 422) continue;
      const plan = RoutePlan.parse(body);
      for (const { poolAddress } of plan.routes.flatMap(({ legs }) => legs)) {
        uses.set(poolAddress as Address, (uses.get(poolAddress as Address) ?? 0) + 1);
      }
      splits += plan.routes.length > 1 ? 1 : 0;
      await expect(execute(plan), JSON.stringify(plan.routes)).resolves.toBeUndefined();
    }
  }
  for (const pool of guarded) expect(uses.get(pool)).toBeGreaterThan(3);
  expect(splits).toBeGreaterThan(3);
});
