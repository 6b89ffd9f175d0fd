import type { Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { RoutePlan } from '../../api/route/route-response.ts';
import { swap } from '../../devnet/actions.ts';
import { takenBack } from '../../devnet/dev-chain.ts';
import { divCeil, minBigint } from '../../protocol/fixed-point.ts';
import { type PlanRequest, routeBody } from './plan-check.ts';
import { ordersBetweenAll } from './requests.ts';
import { postRoute } from './route-app.ts';
import { routeWorld } from './route-world.ts';

/**
 * Plans are executed leg by leg, in the order of the plan, each route's second leg with what its first gave. The walk
 * takes a bin's average price for every part of the bin. The true price gets worse through the bin, so an order that
 * ends inside one receives more than estimated (or pays less), by at most the bin's width on each leg.
 */

const ORDER_USD = [300, 6_000, 30_000];
/** The widest bin of the market, in millionths, for each of two legs, with room for fees on top. */
const BOUND_E6 = 2n * 4_000n + 1_000n;
/** Half the width of the market's widest bin, over the price at its lower edge; fees add less than a millionth. */
const LEFT_BOUND_E6 = 2_030n;
/** Roundings against the trader, in raw units, of each leg of a plan of four routes. */
const ROUNDING = 40n;

const world = routeWorld();

type Leg = RoutePlan['routes'][number]['legs'][number];

/** Positive amounts of both tokens that a leg moved: exact input of `amount`, or exact output of it. */
async function swapLeg(leg: Leg, tradeType: PlanRequest['tradeType'], amount: bigint) {
  const deltas = await swap(world.chain, world.deployment, {
    pool: leg.poolAddress as Hex,
    zeroForOne: leg.zeroForOne,
    amountSpecified: tradeType === 'exact_in' ? amount : -amount,
    priceLimitX64: BigInt(leg.priceLimitX64),
  });
  const [paid, received] = leg.zeroForOne
    ? [deltas.amount0Delta, -deltas.amount1Delta]
    : [deltas.amount1Delta, -deltas.amount0Delta];
  return { paid, received };
}

interface Execution {
  readonly paid: bigint;
  readonly received: bigint;
  /** By intermediate token: what first legs gave and second legs did not take, in all routes. */
  readonly left: ReadonlyMap<string, bigint>;
}

/** What the plan's swaps take of the first token, give of the last, and leave between. */
async function execute(plan: RoutePlan): Promise<Execution> {
  let paid = 0n;
  let received = 0n;
  const left = new Map<string, bigint>();
  for (const { legs } of plan.routes) {
    let carried = BigInt(legs[0]?.amountIn ?? 0);
    for (const [index, leg] of legs.entries()) {
      const amount = plan.tradeType === 'exact_in' ? carried : BigInt(leg.amountOut);
      const done = await swapLeg(leg, plan.tradeType, amount);
      if (index === 0) paid += done.paid;
      else left.set(leg.tokenIn, (left.get(leg.tokenIn) ?? 0n) + carried - done.paid);
      if (index === legs.length - 1) received += done.received;
      carried = done.received;
    }
  }
  return { paid, received, left };
}

/**
 * Expects the remainder of a intermediate token to be within its bound,
 * given what first legs hand to second ones of it.
 */
function expectLeft(plan: RoutePlan, token: string, amount: bigint): void {
  const seconds = plan.routes.flatMap(({ legs: [, second] }) => (second?.tokenIn === token ? [second] : []));
  const planned = seconds.reduce((sum, leg) => sum + BigInt(leg.amountIn), 0n);
  // A raw unit of the last token may be worth many of the middle one.
  const rounding = seconds.reduce((sum, leg) => sum + 1n + divCeil(BigInt(leg.amountIn), BigInt(leg.amountOut)), 0n);
  expect(amount >= -rounding).toBe(true);
  expect((amount - rounding) * 1_000_000n <= planned * LEFT_BOUND_E6).toBe(true);
}

/** The plans of all requests that have one, each handed over on the unmoved market. */
async function forPlans(tradeType: PlanRequest['tradeType'], check: (plan: RoutePlan) => Promise<void>): Promise<void> {
  const routeCounts = new Set<number>();
  for (const request of ordersBetweenAll(world.market, tradeType, ORDER_USD)) {
    const { status, body } = await postRoute(world.app, routeBody(request));
    if (status === 422) continue;
    const plan = RoutePlan.parse(body);
    routeCounts.add(plan.routes.length);
    await takenBack(world.chain, () => check(plan));
  }
  expect(routeCounts).toContain(1);
  expect(Math.max(...routeCounts)).toBeGreaterThan(2);
}

describe('execution on the chain', () => {
  it('of an exact input receives at least the estimate, and no more than its error bound above', async () => {
    await forPlans('exact_in', async (plan) => {
      const { paid, received, left } = await execute(plan);
      const estimate = BigInt(plan.amountOut);
      expect(paid).toBe(BigInt(plan.amountIn));
      for (const amount of left.values()) expect(amount).toBe(0n);
      expect(received * 1_000n >= estimate * 999n).toBe(true);
      expect(received >= estimate - slack(plan)).toBe(true);
      expect(received * 1_000_000n <= estimate * (1_000_000n + BOUND_E6)).toBe(true);
    });
  });

  it('of an exact output receives all of it, for at most the estimate, and no less than its error bound below', async () => {
    await forPlans('exact_out', async (plan) => {
      const { paid, received, left } = await execute(plan);
      for (const [token, amount] of left) expectLeft(plan, token, amount);
      const estimate = BigInt(plan.amountIn);
      expect(received).toBe(BigInt(plan.amountOut));
      expect(paid <= estimate + slack(plan)).toBe(true);
      expect(paid * 1_000_000n >= estimate * (1_000_000n - BOUND_E6)).toBe(true);
    });
  });
});

/** Raw units of the found token that rounding may cost: the coarsest unit of a leg, carried to the plan's end. */
function slack(plan: RoutePlan): bigint {
  const legs = plan.routes.flatMap((route) => route.legs);
  const smallest = legs.flatMap(({ amountIn, amountOut }) => [BigInt(amountIn), BigInt(amountOut)]);
  const least = smallest.reduce(minBigint);
  const found = BigInt(plan.tradeType === 'exact_in' ? plan.amountOut : plan.amountIn);
  return ROUNDING + (found * ROUNDING) / least;
}
