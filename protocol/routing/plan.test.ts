import type { Address } from 'viem';
import { describe, expect, it } from 'vitest';
import type { TradeType } from './fill-curve.ts';
import { hopPaths, type TestPool, TOKEN_IN, TOKEN_OUT } from './market.fixture.ts';
import { findPlan, type RoutingLimits, routeImpactE6 } from './plan.ts';

const MIDDLE: Address = '0x00000000000000000000000000000000000000c3';
const LIMITS: RoutingLimits = { maxRoutes: 4, minLegFractionE6: 20_000, splitThresholdE6: 500, minImprovementE6: 100 };

/** A bin as input, output and impact in millionths. */
type Bin = readonly [bigint, bigint, bigint];

let pools = 0;

function pool(bins: readonly Bin[], token0 = TOKEN_IN, token1 = TOKEN_OUT): TestPool {
  pools += 1;
  let cumulativeInput = 0n;
  let cumulativeOutput = 0n;
  const side = bins.map(([input, output, priceImpactE6], bin) => {
    cumulativeInput += input;
    cumulativeOutput += output;
    return { bin, priceX64: 0n, cumulativeInput, cumulativeOutput, priceImpactE6 };
  });
  const address: Address = `0x${pools.toString(16).padStart(40, '0')}`;
  return { address, token0: { address: token0 }, token1: { address: token1 }, side };
}

function plan(list: readonly TestPool[], tradeType: TradeType, given: bigint, limits: Partial<RoutingLimits> = {}) {
  return findPlan(hopPaths(list, tradeType), { tradeType, given }, { ...LIMITS, ...limits }, () => undefined);
}

/** The routes' parts of the order and their results. */
function amounts(list: readonly TestPool[], tradeType: TradeType, given: bigint, limits?: Partial<RoutingLimits>) {
  const found = plan(list, tradeType, given, limits);
  return typeof found === 'string' ? found : found.plan.routes.map((route) => [route.given, route.found]);
}

const deep = () =>
  pool([
    [1_000n, 1_000n, 1_000n],
    [1_000n, 900n, 100_000n],
  ]);

describe('plan', () => {
  it('walks an exact output backwards through the legs', () => {
    const first = pool([[1_000n, 3_000n, 10n]], TOKEN_IN, MIDDLE);
    const second = pool([[3_000n, 700n, 20n]], MIDDLE, TOKEN_OUT);
    // 70 out need 300 of the intermediate token, which need 100 in; 71 need ceil(304.28..) = 305 and ceil(101.66..)
    // = 102.
    expect(amounts([first, second], 'exact_out', 70n)).toEqual([[70n, 100n]]);
    expect(amounts([first, second], 'exact_out', 71n)).toEqual([[71n, 102n]]);
    expect(amounts([first, second], 'exact_in', 102n)).toEqual([[102n, 71n]]);
  });

  it('splits where the marginal price says so', () => {
    expect(amounts([deep(), deep()], 'exact_in', 2_000n)).toEqual([
      [1_000n, 1_000n],
      [1_000n, 1_000n],
    ]);
    expect(amounts([deep(), deep()], 'exact_out', 1_900n)).toEqual([
      [1_000n, 1_000n],
      [900n, 900n],
    ]);
  });

  it('shares one first pool between two second pools', () => {
    const first = pool([[2_000n, 2_000n, 1_000n]], TOKEN_IN, MIDDLE);
    const second = () =>
      pool(
        [
          [1_000n, 1_000n, 1_000n],
          [1_000n, 500n, 500_000n],
        ],
        MIDDLE,
        TOKEN_OUT,
      );
    expect(amounts([first, second(), second()], 'exact_in', 2_000n)).toEqual([
      [1_000n, 1_000n],
      [1_000n, 1_000n],
    ]);
  });

  it('does not split with one route allowed, below the threshold, or for less than the least gain', () => {
    expect(amounts([deep(), deep()], 'exact_in', 2_000n, { maxRoutes: 1 })).toEqual([[2_000n, 1_900n]]);
    expect(amounts([deep(), deep()], 'exact_in', 2_000n, { splitThresholdE6: 100_001 })).toEqual([[2_000n, 1_900n]]);
    expect(amounts([deep(), deep()], 'exact_in', 2_000n, { splitThresholdE6: 100_000 })).toHaveLength(2);
    // The split gains 100 on 1,900: 52,631 millionths.
    expect(amounts([deep(), deep()], 'exact_in', 2_000n, { minImprovementE6: 52_632 })).toEqual([[2_000n, 1_900n]]);
    expect(amounts([deep(), deep()], 'exact_in', 2_000n, { minImprovementE6: 52_631 })).toHaveLength(2);
  });

  it('ranks by what remains after what swaps cost', () => {
    const near = pool([[1_000n, 1_000n, 1_000n]], TOKEN_IN, MIDDLE);
    const far = pool([[1_000n, 1_000n, 1_000n]], MIDDLE, TOKEN_OUT);
    const worse = pool([[1_000n, 980n, 1_000n]]);
    const legs = (each: bigint) => {
      const paths = hopPaths([near, far, worse], 'exact_in');
      const found = findPlan(
        paths,
        { tradeType: 'exact_in', given: 100n, costOf: () => each },
        LIMITS,
        () => undefined,
      );
      return typeof found === 'string' ? found : found.plan.routes.map(({ fills }) => fills.length);
    };
    // Two swaps give 100, one 98; of equal paths the direct one is first.
    expect([legs(0n), legs(1n), legs(2n), legs(3n)]).toEqual([[2], [2], [1], [1]]);
    const split = (each: bigint) => {
      const order = { tradeType: 'exact_out', given: 1_900n, costOf: () => each } as const;
      const found = findPlan(hopPaths([deep(), deep()], 'exact_out'), order, LIMITS, () => undefined);
      return typeof found === 'string' ? found : found.plan.routes.length;
    };
    // A split takes 1,900, one pool 2,000.
    expect([split(99n), split(101n)]).toEqual([2, 1]);
  });

  it('leaves out routes smaller than the least part', () => {
    const small = pool([[100n, 110n, 1_000n]]);
    expect(amounts([deep(), small], 'exact_in', 1_100n, { minLegFractionE6: 90_000 })).toHaveLength(2);
    expect(amounts([deep(), small], 'exact_in', 1_100n, { minLegFractionE6: 91_000 })).toHaveLength(1);
  });

  it('tells no path from no path with enough depth', () => {
    expect(plan([], 'exact_in', 1n)).toBe('no_route');
    expect(plan([pool([[1n, 1n, 0n]], TOKEN_IN, MIDDLE)], 'exact_in', 1n)).toBe('no_route');
    expect(plan([pool([])], 'exact_in', 1n)).toBe('insufficient_liquidity');
    expect(plan([deep()], 'exact_in', 2_001n)).toBe('insufficient_liquidity');
    expect(plan([deep()], 'exact_out', 1_901n)).toBe('insufficient_liquidity');
    expect(amounts([deep()], 'exact_in', 2_000n)).toEqual([[2_000n, 1_900n]]);
    expect(amounts([deep()], 'exact_out', 1_900n)).toEqual([[1_900n, 2_000n]]);
  });

  it('has no plan that gives nothing for the input', () => {
    const expensive = pool([[1_000n, 10n, 0n]]);
    expect(plan([expensive], 'exact_in', 99n)).toBe('insufficient_liquidity');
    expect(amounts([expensive], 'exact_in', 100n)).toEqual([[100n, 1n]]);
  });

  it('takes the impact of the last bin reached, the larger of two legs', () => {
    const first = pool(
      [
        [10n, 10n, 7n],
        [10n, 10n, 9n],
      ],
      TOKEN_IN,
      MIDDLE,
    );
    const second = pool([[20n, 20n, 8n]], MIDDLE, TOKEN_OUT);
    const impact = (given: bigint) => {
      const found = plan([first, second], 'exact_in', given);
      return typeof found === 'string' ? found : routeImpactE6(found.baseline);
    };
    expect([impact(10n), impact(11n)]).toEqual([8n, 9n]);
  });

  it('stops when the caller says so', () => {
    const paths = hopPaths([deep(), deep()], 'exact_in');
    const order = { tradeType: 'exact_in', given: 2_000n } as const;
    const searchWith = (tick: () => void) => findPlan(paths, order, LIMITS, tick);
    let steps = 0;
    searchWith(() => {
      steps += 1;
    });
    // Scoring ticks for each of the two pools, the search for each of the two price steps.
    expect(steps).toBe(4);
    for (let last = 0; last < steps; last++) {
      let left = last;
      const stop = () => {
        if (left-- === 0) throw new Error('out of time');
      };
      expect(() => searchWith(stop)).toThrow('out of time');
    }
  });
});
