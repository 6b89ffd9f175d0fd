import { z } from '@hono/zod-openapi';
import type { Address } from 'viem';
import { MAX_UINT128, mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { type FoundPlan, hopImpactE6, routeImpactE6 } from '../../protocol/routing/plan.ts';
import type { HopFill, RouteFill } from '../../protocol/routing/settle.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';

const tradeType = z.enum(['exact_in', 'exact_out']);
const integer = z.string().regex(/^\d+$/);

/** Amounts common to a plan, its routes and their legs. */
const amounts = {
  amountIn: integer.openapi({ description: 'Raw units of the token paid.' }),
  amountOut: integer.openapi({ description: 'Raw units of the token received.' }),
  effectivePriceX64: integer.openapi({ description: 'amountOut * 2^64 / amountIn, raw units.' }),
};

const impact = integer.openapi({ description: 'Millionths; 10000 = 1%.' });

const RouteLeg = z
  .strictObject({
    tradeType,
    poolAddress: z.string(),
    pair: z.string().openapi({ example: 'WETH/USDC' }),
    zeroForOne: z.boolean(),
    tokenIn: z.string(),
    tokenOut: z.string(),
    ...amounts,
    priceImpactE6: impact,
    priceLimitX64: integer.openapi({ description: '0 when zeroForOne is true, else 2^128 - 1.' }),
  })
  .openapi('RouteLeg');

const Route = z
  .strictObject({
    tradeType,
    routeType: z.enum(['direct', 'one_hop']),
    ...amounts,
    priceImpactE6: impact,
    legs: z.array(RouteLeg),
  })
  .openapi('Route');

/** The answer to a route request. Routes are listed in the order in which they are to be executed. */
export const RoutePlan = z
  .strictObject({
    tokenIn: z.string(),
    tokenOut: z.string(),
    tradeType,
    ...amounts,
    priceImpactBestRoute: z.string().openapi({ example: '0.0135', description: 'Decimal fraction.' }),
    candidatesConsidered: z.int(),
    routes: z.array(Route),
  })
  .openapi('RoutePlan');

export type RoutePlan = z.infer<typeof RoutePlan>;
type Route = z.infer<typeof Route>;
type RouteLeg = z.infer<typeof RouteLeg>;

interface Pair {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

export function routePlanBody(found: FoundPlan<ServedPool>, tradeType: TradeType, pair: Pair): RoutePlan {
  return {
    tokenIn: pair.tokenIn,
    tokenOut: pair.tokenOut,
    tradeType,
    ...amountsOf(found.plan, tradeType),
    priceImpactBestRoute: fractionOfE6(routeImpactE6(found.baseline)),
    candidatesConsidered: found.considered,
    routes: found.plan.routes.map((route) => routeBody(route, tradeType)),
  };
}

function routeBody(route: RouteFill<ServedPool>, tradeType: TradeType): Route {
  const { fills } = route;
  return {
    tradeType,
    routeType: fills.length === 1 ? 'direct' : 'one_hop',
    ...amountsOf(route, tradeType),
    priceImpactE6: routeImpactE6(route).toString(),
    // Fills go from the fixed amount on: for an exact output that is backwards.
    legs: (tradeType === 'exact_in' ? [...fills] : [...fills].reverse()).map((fill) => legBody(fill, tradeType)),
  };
}

function legBody(fill: HopFill<ServedPool>, tradeType: TradeType): RouteLeg {
  const { pool, zeroForOne } = fill.hop;
  const tokens = [pool.token0.address, pool.token1.address] as const;
  return {
    tradeType,
    poolAddress: pool.address,
    pair: pool.pair,
    zeroForOne,
    tokenIn: tokens[zeroForOne ? 0 : 1],
    tokenOut: tokens[zeroForOne ? 1 : 0],
    ...amountsOf(fill, tradeType),
    priceImpactE6: hopImpactE6(fill).toString(),
    priceLimitX64: zeroForOne ? '0' : MAX_UINT128.toString(),
  };
}

function amountsOf({ given, found }: { readonly given: bigint; readonly found: bigint }, tradeType: TradeType) {
  const [amountIn, amountOut] = tradeType === 'exact_in' ? [given, found] : [found, given];
  return {
    amountIn: amountIn.toString(),
    amountOut: amountOut.toString(),
    effectivePriceX64: mulDivFloor(amountOut, Q64, amountIn).toString(),
  };
}

/** Millionths as an exact decimal fraction without trailing zeros: 13500 is `0.0135`. */
function fractionOfE6(millionths: bigint): string {
  const digits = millionths.toString().padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
}
