import type { Address } from 'viem';
import { expect, it } from 'vitest';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { type FoundPlan, findPlan } from '../../protocol/routing/plan.ts';
import { makeHop } from '../../protocol/routing/routes.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Fill, GasOf } from './route-gas.ts';
import { RoutePlan, routePlanBody } from './route-response.ts';

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const token = (byte: string) => ({ address: address(byte), symbol: byte.toUpperCase(), decimals: 18 });
const [A, B, C] = [token('aa'), token('bb'), token('cc')];

function pool(byte: string, token0: typeof A, token1: typeof A): ServedPool {
  return {
    chainId: 1,
    address: address(byte),
    contractVersion: 'v1',
    layout: 'flat',
    token0,
    token1,
    pair: `${token0.symbol}/${token1.symbol}`,
    immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 18) },
    immutableProvider: null,
    extensions: [],
    stopLossMark: 'mean',
    router: null,
  };
}

const side = (cumulativeInput: bigint, cumulativeOutput: bigint, priceImpactE6: bigint) => [
  { bin: 0, priceX64: 0n, cumulativeInput, cumulativeOutput, priceImpactE6 },
];

/** Gas of a leg by the level that it ends in. */
const gasOf: GasOf = ({ hop, level }) => (hop.zeroForOne ? 150_000 : 120_000) + level;

/** A for B over C: pool 11 sells its token0, pool 22 buys its token0. */
function found(tradeType: TradeType, given: bigint, impactsE6: [bigint, bigint] = [100n, 13_500n]) {
  const first = makeHop(pool('11', A, C), true, side(1_000n, 3_000n, impactsE6[0]), tradeType);
  const second = makeHop(pool('22', B, C), false, side(3_000n, 700n, impactsE6[1]), tradeType);
  const legs = tradeType === 'exact_in' ? ([[first], [second]] as const) : ([[second], [first]] as const);
  const limits = { maxRoutes: 4, splitThresholdE6: 0, minImprovementE6: 0, minLegFractionE6: 0 };
  const plan = findPlan([{ legs }], { tradeType, given }, limits, () => undefined) as FoundPlan<ServedPool>;
  return { ...plan, snapshots: [], gasOf };
}

const pair = { tokenIn: A.address, tokenOut: B.address };

it.each(['exact_in', 'exact_out'] as const)('lists the legs of %s in trade order, with every field', (tradeType) => {
  const body = routePlanBody(found(tradeType, tradeType === 'exact_in' ? 100n : 70n), {
    ...pair,
    tradeType,
    gasPrice: null,
    isOverridden: false,
  });
  // 100 in give 300 of the intermediate token, which give 70 out.
  const amounts = { amountIn: '100', amountOut: '70', effectivePriceX64: ((70n << 64n) / 100n).toString() };
  expect(body).toEqual({
    ...pair,
    tradeType,
    ...amounts,
    priceImpactBestRoute: '0.0135',
    candidatesConsidered: 1,
    gasEstimate: 296_000,
    routes: [
      {
        tradeType,
        routeType: 'one_hop',
        ...amounts,
        priceImpactE6: '13500',
        legs: [
          {
            tradeType,
            poolAddress: address('11'),
            pair: 'AA/CC',
            zeroForOne: true,
            tokenIn: A.address,
            tokenOut: C.address,
            amountIn: '100',
            amountOut: '300',
            effectivePriceX64: (3n << 64n).toString(),
            priceImpactE6: '100',
            priceLimitX64: '0',
            gasEstimate: 150_000,
          },
          {
            tradeType,
            poolAddress: address('22'),
            pair: 'BB/CC',
            zeroForOne: false,
            tokenIn: C.address,
            tokenOut: B.address,
            amountIn: '300',
            amountOut: '70',
            effectivePriceX64: ((70n << 64n) / 300n).toString(),
            priceImpactE6: '13500',
            priceLimitX64: '340282366920938463463374607431768211455',
            gasEstimate: 120_000,
          },
        ],
      },
    ],
  });
  expect(RoutePlan.safeParse(body).success).toBe(true);
});

it.each([
  [0n, '0'],
  [1n, '0.000001'],
  [100n, '0.0001'],
  [13_500n, '0.0135'],
  [1_000_000n, '1'],
  [10_000_000n, '10'],
  [12_345_678n, '12.345678'],
])('writes an impact of %s millionths as %s', (impactE6, text) => {
  const plan = found('exact_in', 100n, [0n, impactE6]);
  expect(
    routePlanBody(plan, { ...pair, tradeType: 'exact_in', gasPrice: null, isOverridden: false }).priceImpactBestRoute,
  ).toBe(text);
});

it('gives what the gas of a plan costs, rounded up, where the request has its price', () => {
  // A third of a wei's worth for each unit of gas, and 296,000 / 3 = 98,666.67.
  const gasPrice = { gasPriceWei: 1n, nativePriceX64: (1n << 64n) / 3n };
  const request = { ...pair, tradeType: 'exact_in', gasPrice, isOverridden: false } as const;
  expect(routePlanBody(found('exact_in', 100n), request)).toMatchObject({ gasEstimate: 296_000, gasCost: '98667' });
  const unknown = { ...found('exact_in', 100n), gasOf: ({ hop }: Fill) => (hop.zeroForOne ? 150_000 : null) };
  expect(routePlanBody(unknown, request)).toMatchObject({ gasEstimate: null, gasCost: null });
});
