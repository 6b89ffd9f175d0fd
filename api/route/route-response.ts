import { z } from '@hono/zod-openapi';
import { MAX_UINT128, mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { type FoundPlan, hopImpactE6, routeImpactE6 } from '../../protocol/routing/plan.ts';
import type { HopFill, RouteFill } from '../../protocol/routing/routes.ts';
import { costOfGas, TRANSACTION_GAS } from '../../protocol/swap-gas.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { basisOf, overridesOf } from '../../quoting/quote-basis.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { documented } from '../declaration/documented.ts';
import { quotedFields } from '../declaration/quote-basis.ts';
import type { GasOf } from './route-gas.ts';
import type { RouteRequest } from './route-request.ts';

const tradeType = z.enum(['exact_in', 'exact_out']).describe('Which amount of the request is fixed.');
const token = (role: string) => z.string().describe(`Token ${role}, lowercase address.`);
const integer = z.string().regex(/^\d+$/);

/** Amounts common to a plan, its routes and their legs. */
const amounts = {
  amountIn: integer.openapi({ description: 'Amount paid, raw units of the token paid.' }),
  amountOut: integer.openapi({ description: 'Amount received, raw units of the token received.' }),
  effectivePriceX64: integer.openapi({
    description: 'Q64.64: amountOut * 2^64 / amountIn in raw units, not adjusted for decimals.',
  }),
};

const impact = (of: string) => integer.describe(`Price impact ${of}, millionths: 10000 = 1%.`);

const gas = (of: string) => z.int().nullable().describe(`${of}; null when not known.`);

const RouteLeg = documented('RouteLeg', 'A swap in one pool.', {
  tradeType,
  poolAddress: z.string().describe('Pool of the leg, lowercase address.'),
  pair: z.string().openapi({ example: 'WETH/USDC', description: 'Symbols of token0 and token1.' }),
  zeroForOne: z.boolean().describe('Whether token0 is sold for token1.'),
  tokenIn: token('paid'),
  tokenOut: token('received'),
  ...amounts,
  priceImpactE6: impact('at the far edge of the last bin reached'),
  priceLimitX64: integer.openapi({
    description: 'Limit for the swap, Q64.64: 0 when `zeroForOne` is true, else 2^128 - 1.',
  }),
  gasEstimate: gas(
    'Gas of the swap, its price provider, guards and two transfers of ordinary tokens: with `gasPriceWei` simulated, otherwise about, as the pool was measured last',
  ),
});

const Route = documented('Route', 'A path and the part of the order that it takes.', {
  tradeType,
  routeType: z.enum(['direct', 'one_hop']).describe('One leg, or two over a token between.'),
  ...amounts,
  priceImpactE6: impact('of the worst leg'),
  legs: z.array(RouteLeg).describe('In the order of execution; leg 2 pays what leg 1 receives.'),
});

/** The response to a route request. Its routes are in the order in which they are to be executed. */
export const RoutePlan = documented('RoutePlan', 'One route, or several that share the order.', {
  tokenIn: token('paid'),
  tokenOut: token('received'),
  tradeType,
  ...amounts,
  priceImpactBestRoute: z
    .string()
    .openapi({ example: '0.0135', description: 'Price impact of the best single route, as a decimal fraction.' }),
  candidatesConsidered: z.int().describe('Paths scored.'),
  gasEstimate: gas('Gas of a transaction with all legs: their sum and 26,000'),
  gasCost: integer
    .nullish()
    .describe(
      'Only with `gasPriceWei`: what `gasEstimate` costs, rounded up, raw units of the token whose amount is not fixed.',
    ),
  routes: z.array(Route).describe('In the order of execution; several mean a split.'),
  ...quotedFields,
});

export type RoutePlan = z.infer<typeof RoutePlan>;
type Route = z.infer<typeof Route>;
type RouteLeg = z.infer<typeof RouteLeg>;

/** Writes a plan as the body of the response. */
export function routePlanBody(
  found: FoundPlan<ServedPool> & { readonly snapshots: readonly Snapshot[]; readonly gasOf: GasOf },
  {
    tokenIn,
    tokenOut,
    tradeType,
    gasPrice,
    isOverridden,
  }: Pick<RouteRequest, 'tokenIn' | 'tokenOut' | 'tradeType' | 'gasPrice' | 'isOverridden'>,
): RoutePlan {
  const oldest = found.snapshots.toSorted(byAge).at(0);
  const overrides = isOverridden ? overridesOf(found.snapshots.map(({ block }) => block)) : undefined;
  const routes = found.plan.routes.map((route) => routeBody(route, tradeType, found.gasOf));
  const gasEstimate = gasOfLegs(routes.flatMap(({ legs }) => legs));
  return {
    tokenIn,
    tokenOut,
    tradeType,
    ...amountsOf(found.plan, tradeType),
    priceImpactBestRoute: fractionOfE6(routeImpactE6(found.baseline)),
    candidatesConsidered: found.considered,
    gasEstimate,
    ...(gasPrice && { gasCost: gasEstimate === null ? null : costOfGas(gasPrice, gasEstimate).toString() }),
    routes,
    ...(oldest?.hasSource && { basis: { ...basisOf(oldest), sources: commonSources(found.snapshots) } }),
    ...(overrides !== undefined && { overrides }),
  };
}

/** Live prices first, the oldest of them before others. */
const byAge = (one: Snapshot, other: Snapshot): number => (other.sourceAgeMs ?? -1) - (one.sourceAgeMs ?? -1);

/** The sources that held all live prices. */
function commonSources(snapshots: readonly Snapshot[]): readonly string[] | null {
  const [first, ...others] = snapshots.filter(({ block }) => block.pending).map(({ sources }) => sources ?? null);
  if (!first || others.includes(null)) return null;
  return first.filter((name) => others.every((sources) => sources?.includes(name)));
}

/** Gas of a transaction with these legs; null while one of them is not measured. */
function gasOfLegs(legs: readonly RouteLeg[]): number | null {
  const gas = legs.flatMap(({ gasEstimate }) => gasEstimate ?? []);
  return gas.length === legs.length ? gas.reduce((sum, each) => sum + each, TRANSACTION_GAS) : null;
}

function routeBody(route: RouteFill<ServedPool>, tradeType: TradeType, gasOf: GasOf): Route {
  const { fills } = route;
  return {
    tradeType,
    routeType: fills.length === 1 ? 'direct' : 'one_hop',
    ...amountsOf(route, tradeType),
    priceImpactE6: routeImpactE6(route).toString(),
    // Fills begin at the fixed amount. For an exact output, that is the end of the path.
    legs: (tradeType === 'exact_in' ? [...fills] : [...fills].reverse()).map((fill) => legBody(fill, tradeType, gasOf)),
  };
}

function legBody(fill: HopFill<ServedPool>, tradeType: TradeType, gasOf: GasOf): RouteLeg {
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
    gasEstimate: gasOf(fill),
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
