import { beforeAll, describe, expect, it } from 'vitest';
import type { RoutePlan } from '../../api/route/route-response.ts';
import { swap } from '../../devnet/actions.ts';
import { setFeedPrice } from '../../devnet/providers.ts';
import { priceX64 } from '../quotes/quote-world.ts';
import { allPaths, bestPaths, type Depths, expectPlan, type PlanRequest, readDepths, routeBody } from './plan-check.ts';
import { amountOf, orderBetween, ordersBetweenAll } from './requests.ts';
import { postRoute } from './route-app.ts';
import type { PoolName, TokenName } from './route-market.ts';
import { routeWorld } from './route-world.ts';

const ORDER_USD = [0.5, 2_000, 15_000, 40_000, 300_000];
/** Pools of the traded tokens: all of them are open to anyone. */
const OPEN: readonly PoolName[] = [
  ...(['wethUsdc', 'wethUsdcWide', 'usdcWeth', 'wethWbtc', 'wethWbtcThin', 'wbtcUsdc', 'wbtcUsdcOther'] as const),
  ...(['daiUsdc', 'daiWeth', 'guarded'] as const),
];

const world = routeWorld();
const open = () => OPEN.map((name) => world.market.pools[name]);
const request = (tokenIn: TokenName, tokenOut: TokenName, tradeType: PlanRequest['tradeType'], usd: number) =>
  orderBetween(world.market, tokenIn, tokenOut, tradeType, usd);
const allRequests = () =>
  (['exact_in', 'exact_out'] as const).flatMap((tradeType) => ordersBetweenAll(world.market, tradeType, ORDER_USD));
const better = (tradeType: PlanRequest['tradeType'], a: bigint, b: bigint) =>
  tradeType === 'exact_in' ? a > b : a < b;
const foundOf = (plan: RoutePlan) => BigInt(plan.tradeType === 'exact_in' ? plan.amountOut : plan.amountIn);

describe('plans on a chain', () => {
  let depths: Depths;

  beforeAll(async () => {
    depths = await readDepths(world.app, open());
  });

  it('have every number derived from the depths that clients see, and beat or equal the best path', async () => {
    const shapes = new Set<string>();
    for (const requested of allRequests()) {
      const paths = allPaths(open(), requested.tokenIn, requested.tokenOut);
      const equal = bestPaths(depths, paths, requested);
      const [best] = equal;
      const answer = await postRoute(world.app, routeBody(requested));
      if (!best) {
        expect(answer).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
        shapes.add('insufficient');
        continue;
      }
      expect(answer.status).toBe(200);
      const plan = expectPlan(answer.body, depths, requested);
      const single = requested.tradeType === 'exact_in' ? best.output : best.input;
      expect(better(requested.tradeType, single, foundOf(plan))).toBe(false);
      if (plan.routes.length > 1) expect(better(requested.tradeType, foundOf(plan), single)).toBe(true);
      else expect(foundOf(plan)).toBe(single);
      const impactE6 = Math.round(Number(plan.priceImpactBestRoute) * 1e6);
      expect(equal.map((each) => Number(each.impactE6))).toContain(impactE6);
      expect(plan.candidatesConsidered).toBe(paths.length);
      shapes.add(plan.routes.length > 1 ? 'split' : (plan.routes[0]?.routeType ?? ''));
    }
    expect([...shapes].sort()).toEqual(['direct', 'insufficient', 'one_hop', 'split']);
  });

  it('have no more routes than asked for', async () => {
    const requested = request('WETH', 'USDC', 'exact_in', 40_000);
    const counts: number[] = [];
    for (const maxRoutes of [0, 1, 2, 3, 4, 9]) {
      const { body } = await postRoute(world.app, { ...routeBody(requested), maxRoutes });
      counts.push(expectPlan(body, depths, requested).routes.length);
    }
    const [zero, one, two, three, four, nine] = counts;
    expect([zero, one]).toEqual([1, 1]);
    expect(two).toBe(2);
    expect(three).toBeGreaterThanOrEqual(2);
    expect(four).toBeLessThanOrEqual(4);
    expect(nine).toBe(four);
  });

  it('stay with the best path below the split threshold', async () => {
    const calm = world.appWith({ routing: { splitThresholdE6: 1_000_000 } });
    const requested = request('WETH', 'USDC', 'exact_in', 40_000);
    const { body } = await postRoute(calm, routeBody(requested));
    expect(expectPlan(body, depths, requested).routes).toHaveLength(1);
  });

  it('go through the named pool alone', async () => {
    const requested = request('USDC', 'WETH', 'exact_in', 2_000);
    const { status, body } = await postRoute(world.app, {
      ...routeBody(requested),
      poolAddress: world.pool('wethUsdcWide'),
    });
    expect(status).toBe(200);
    const plan = expectPlan(body, depths, requested);
    expect(plan.candidatesConsidered).toBe(1);
    expect(plan.routes.map(({ legs }) => legs.map(({ poolAddress }) => poolAddress))).toEqual([
      [world.pool('wethUsdcWide')],
    ]);
  });

  it('spell addresses in lower case, however they were sent', async () => {
    const requested = request('WETH', 'USDC', 'exact_in', 2_000);
    const upper = (address: string) => address.toUpperCase();
    const sent = { ...routeBody(requested), tokenIn: upper(requested.tokenIn), tokenOut: upper(requested.tokenOut) };
    const { body } = await postRoute(world.app, { ...sent, poolAddress: upper(world.pool('wethUsdc')) });
    expectPlan(body, depths, requested);
  });
});

describe('a side that a guard has closed', () => {
  it('has no depth for routes, while the other side trades', async () => {
    const { chain, deployment } = world;
    const { address, feed } = world.market.pools.guarded;
    const amountSpecified = amountOf(world.market, 'WETH', 300);
    // Swaps both ways record the watermarks; then the pool's own feed falls by more than the allowed tenth.
    for (const zeroForOne of [true, false]) {
      await swap(chain, deployment, {
        pool: address,
        zeroForOne,
        amountSpecified: zeroForOne ? amountSpecified : -amountSpecified,
      });
    }
    await setFeedPrice(chain, deployment, { feedId: feed, priceX64: priceX64(2_600) });
    // A service that has read nothing yet: the other may show its last block for a moment.
    const later = world.appWith();
    const through = (requested: PlanRequest) => postRoute(later, { ...routeBody(requested), poolAddress: address });
    expect((await through(request('WETH', 'DAI', 'exact_in', 100))).status).toBe(200);
    const closed = await through(request('DAI', 'WETH', 'exact_in', 100));
    expect(closed).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
    const requested = request('DAI', 'WETH', 'exact_in', 100);
    const { body } = await postRoute(later, routeBody(requested));
    const plan = expectPlan(body, await readDepths(later, open()), requested);
    expect(plan.routes.flatMap(({ legs }) => legs.map(({ poolAddress }) => poolAddress))).not.toContain(address);
  });
});
