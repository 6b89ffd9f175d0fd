import type { Hono } from 'hono';
import { expect } from 'vitest';
import { RoutePlan } from '../../api/route/route-response.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import type { MarketPool } from './route-market.ts';
import { type Estimate, estimateFill, type QuoteSides } from './spec-walk.ts';

export type TradeType = 'exact_in' | 'exact_out';

export interface PlanRequest {
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly tradeType: TradeType;
  readonly amount: bigint;
}

/** A pool that a path goes through, as the contract describes it. */
interface Step {
  readonly pool: string;
  readonly zeroForOne: boolean;
}

export type Depths = ReadonlyMap<string, QuoteSides>;

export const routeBody = ({ tokenIn, tokenOut, tradeType, amount }: PlanRequest) => ({
  tokenIn,
  tokenOut,
  tradeType,
  ...(tradeType === 'exact_in' ? { amountIn: amount.toString() } : { amountOut: amount.toString() }),
});

/** The levels of one pool as the bid/ask endpoint shows them now. */
export async function readDepth(app: Hono, chainId: number, pool: string): Promise<QuoteSides> {
  const params = { path: { chain_id: chainId, pool_address: pool } };
  const client = inProcessClient(app);
  const { data, error } = await client.GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params });
  if (!data?.depth) throw new Error(`${pool} has no depth: ${JSON.stringify(error)}`);
  return data.depth;
}

/** What the bid/ask endpoint shows of these pools now. */
export async function readDepths(app: Hono, pools: readonly MarketPool[]): Promise<Depths> {
  const depths = new Map<string, QuoteSides>();
  for (const { address, served } of pools) {
    depths.set(address, await readDepth(app, served.chainId, address));
  }
  return depths;
}

/** Every path of one or two pools from token to token. */
export function allPaths(
  pools: readonly MarketPool[],
  tokenIn: string,
  tokenOut: string,
): readonly (readonly Step[])[] {
  const stepsFrom = (token: string) =>
    pools.flatMap(({ served }) => {
      const [token0, token1] = [served.token0.address, served.token1.address] as const;
      if (token0 !== token && token1 !== token) return [];
      return [{ pool: served.address, zeroForOne: token0 === token, to: token0 === token ? token1 : token0 }];
    });
  return stepsFrom(tokenIn).flatMap((first) => {
    if (first.to === tokenOut) return [[first]];
    return stepsFrom(first.to).flatMap((second) => (second.to === tokenOut ? [[first, second]] : []));
  });
}

/** A path for the whole order; null when a pool runs out. Exact outputs go backwards. */
export function walkPath(depths: Depths, path: readonly Step[], { tradeType, amount }: PlanRequest): Estimate | null {
  let next = amount;
  let impactE6 = 0n;
  for (const { pool, zeroForOne } of tradeType === 'exact_in' ? path : path.toReversed()) {
    const levels = depths.get(pool)?.[zeroForOne ? 'bids' : 'asks'] ?? [];
    const fill = estimateFill(levels, tradeType === 'exact_in' ? 'input' : 'output', next);
    if (!fill) return null;
    next = tradeType === 'exact_in' ? fill.output : fill.input;
    impactE6 = fill.impactE6 > impactE6 ? fill.impactE6 : impactE6;
  }
  return tradeType === 'exact_in'
    ? { input: amount, output: next, impactE6 }
    : { input: next, output: amount, impactE6 };
}

/** The best of all paths for the whole order: several, when they give the same. */
export function bestPaths(
  depths: Depths,
  paths: readonly (readonly Step[])[],
  request: PlanRequest,
): readonly Estimate[] {
  const fills = paths.flatMap((path) => walkPath(depths, path, request) ?? []).filter(({ output }) => output > 0n);
  const isBetter = (a: Estimate, b: Estimate) => a.output > b.output || a.input < b.input;
  return fills.filter((fill) => !fills.some((other) => isBetter(other, fill)));
}

/** Checks every number of a plan against the depths that clients see. */
export function expectPlan(answer: unknown, depths: Depths, request: PlanRequest): RoutePlan {
  const plan = RoutePlan.parse(answer);
  const { tokenIn, tokenOut, tradeType, amount } = request;
  expect(plan).toMatchObject({ tokenIn, tokenOut, tradeType });
  expect(BigInt(tradeType === 'exact_in' ? plan.amountIn : plan.amountOut)).toBe(amount);
  expectPrice(plan);
  expect(sum(plan.routes, 'amountIn')).toBe(BigInt(plan.amountIn));
  expect(sum(plan.routes, 'amountOut')).toBe(BigInt(plan.amountOut));
  const used = new Map<string, bigint>();
  for (const route of plan.routes) expectRoute(route, depths, request, used);
  return plan;
}

type Route = RoutePlan['routes'][number];
type Leg = Route['legs'][number];

function expectRoute(route: Route, depths: Depths, request: PlanRequest, used: Map<string, bigint>): void {
  const { legs } = route;
  expect(route.tradeType).toBe(request.tradeType);
  expect(legs.length).toBe(route.routeType === 'direct' ? 1 : 2);
  expect([legs[0]?.tokenIn, legs.at(-1)?.tokenOut]).toEqual([request.tokenIn, request.tokenOut]);
  expect([legs[0]?.amountIn, legs.at(-1)?.amountOut]).toEqual([route.amountIn, route.amountOut]);
  if (legs[1]) {
    expect([legs[1].tokenIn, legs[1].amountIn]).toEqual([legs[0]?.tokenOut, legs[0]?.amountOut]);
    expect(legs[1].poolAddress).not.toBe(legs[0]?.poolAddress);
  }
  expectPrice(route);
  for (const leg of legs) expectLeg(leg, depths, request.tradeType, used);
  const impacts = legs.map(({ priceImpactE6 }) => Number(priceImpactE6));
  expect(Number(route.priceImpactE6)).toBe(Math.max(...impacts));
}

/** A pool that earlier routes used is walked on from where they left it. */
function expectLeg(leg: Leg, depths: Depths, tradeType: TradeType, used: Map<string, bigint>): void {
  const levels = depths.get(leg.poolAddress)?.[leg.zeroForOne ? 'bids' : 'asks'] ?? [];
  const exact = tradeType === 'exact_in' ? 'input' : 'output';
  const start = used.get(leg.poolAddress) ?? 0n;
  const end = start + BigInt(tradeType === 'exact_in' ? leg.amountIn : leg.amountOut);
  used.set(leg.poolAddress, end);
  const [before, after] = [estimateFill(levels, exact, start), estimateFill(levels, exact, end)];
  if (!before || !after) throw new Error(`${leg.poolAddress} has less depth than the plan uses`);
  expect(BigInt(leg.amountIn)).toBe(after.input - before.input);
  expect(BigInt(leg.amountOut)).toBe(after.output - before.output);
  expect(BigInt(leg.priceImpactE6)).toBe(after.impactE6);
  expect(leg.tradeType).toBe(tradeType);
  expect(leg.priceLimitX64).toBe(leg.zeroForOne ? '0' : (2n ** 128n - 1n).toString());
  expectPrice(leg);
}

interface Amounts {
  readonly amountIn: string;
  readonly amountOut: string;
  readonly effectivePriceX64: string;
}

/** The price is the largest integer that does not exceed amountOut * 2^64 / amountIn. */
function expectPrice({ amountIn, amountOut, effectivePriceX64 }: Amounts): void {
  const [price, scaled] = [BigInt(effectivePriceX64), BigInt(amountOut) << 64n];
  expect(price * BigInt(amountIn) <= scaled && scaled < (price + 1n) * BigInt(amountIn)).toBe(true);
}

const sum = (list: readonly Amounts[], field: 'amountIn' | 'amountOut') =>
  list.reduce((total, each) => total + BigInt(each[field]), 0n);
