import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { bestOnGrid } from './brute-force.fixture.ts';
import { capacity, foundAt, type TradeType } from './fill-curve.ts';
import { hopPaths, type Market, market, orderIn, pathsOf, type TestPool } from './market.fixture.ts';
import { type FoundPlan, findPlan, type RoutingLimits } from './plan.ts';
import { type Hop, type HopFill, isBetter, settle } from './routes.ts';

const GRID = 20;
const noLimit = () => undefined;

const limits: fc.Arbitrary<RoutingLimits> = fc.record({
  maxRoutes: fc.integer({ min: 1, max: 4 }),
  minLegFractionE6: fc.constantFrom(0, 20_000, 50_000),
  splitThresholdE6: fc.constant(0),
  minImprovementE6: fc.constantFrom(0, 100),
});

interface Search {
  readonly tokenPaths: ReturnType<typeof hopPaths>;
  readonly order: { readonly tradeType: TradeType; readonly given: bigint };
  readonly limits: RoutingLimits;
}

const search: fc.Arbitrary<Search> = fc
  .tuple(market, fc.constantFrom<TradeType>('exact_in', 'exact_out'))
  .chain(([{ pools, scaleIn, scaleOut }, tradeType]: [Market, TradeType]) =>
    fc.record({
      tokenPaths: fc.constant(hopPaths(pools, tradeType)),
      order: fc.record({
        tradeType: fc.constant(tradeType),
        given: orderIn(tradeType === 'exact_in' ? scaleIn : scaleOut),
      }),
      limits,
    }),
  );

/** Checks a property of the plans of searches that have one. */
function forPlans(check: (found: FoundPlan<TestPool>, from: Search) => void, numRuns = 120): void {
  fc.assert(
    fc.property(search, (from) => {
      const found = findPlan(from.tokenPaths, from.order, from.limits, noLimit);
      if (typeof found !== 'string') check(found, from);
    }),
    { numRuns: runs(numRuns) },
  );
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

describe('split', () => {
  it('is within 0.5% of the best split on a fine grid in 95% of cases, and never worse than the best route', () => {
    let cases = 0;
    let close = 0;
    forPlans(({ plan }, { tokenPaths, order, limits }) => {
      const paths = pathsOf(tokenPaths);
      const optimum = bestOnGrid(paths, order, limits.maxRoutes, GRID);
      const single = bestOnGrid(paths, order, 1, 1);
      if (optimum === null || single === null) throw new Error('the search found a plan that the grid has not');
      expect(isBetter(order.tradeType, single, plan.found)).toBe(false);
      const worse = order.tradeType === 'exact_in' ? optimum - plan.found : plan.found - optimum;
      cases += 1;
      if (worse * 1_000n <= optimum * 5n) close += 1;
    }, 300);
    expect(cases).toBeGreaterThan(100);
    expect(close / cases).toBeGreaterThanOrEqual(0.95);
  });

  it('conserves amounts: routes sum to the plan and a leg takes exactly what the other gives', () => {
    forPlans(({ plan }, { order }) => {
      expect(sum(plan.routes.map(({ given }) => given))).toBe(order.given);
      expect(sum(plan.routes.map(({ found }) => found))).toBe(plan.found);
      for (const { fills, given, found } of plan.routes) {
        const [near, far = near] = fills;
        expect([near.given, far.found]).toEqual([given, found]);
        if (far !== near) expect(far.given).toBe(near.found);
      }
    });
  });

  it('counts the liquidity of a shared pool once: its fills sum to one walk of its curve', () => {
    let shared = 0;
    forPlans(({ plan }) => {
      const fills = plan.routes.flatMap((route) => [...route.fills]);
      for (const hop of new Set<Hop<TestPool>>(fills.map((fill) => fill.hop))) {
        const own = fills.filter((fill) => fill.hop === hop);
        if (own.length > 1) shared += 1;
        const given = sum(own.map((fill) => fill.given));
        expect(given <= capacity(hop.curve)).toBe(true);
        expect(sum(own.map((fill) => fill.found))).toBe(foundAt(hop.curve, given));
      }
    }, 1_000);
    expect(shared).toBeGreaterThan(0);
  });

  it('keeps the limits: number of routes, least part of the order, least gain, no pool twice in a route', () => {
    forPlans(({ plan, baseline }, { order, limits }) => {
      expect(plan.routes.length).toBeLessThanOrEqual(limits.maxRoutes);
      for (const { fills } of plan.routes) expect(new Set(fills.map(({ hop }) => hop.pool)).size).toBe(fills.length);
      if (plan.routes.length === 1) return;
      for (const { given } of plan.routes) {
        expect(given * 1_000_000n >= order.given * BigInt(limits.minLegFractionE6)).toBe(true);
      }
      expect(isBetter(order.tradeType, plan.found, baseline.found)).toBe(true);
      const gain = plan.found - baseline.found;
      const least = baseline.found * BigInt(limits.minImprovementE6);
      expect((gain < 0n ? -gain : gain) * 1_000_000n >= least).toBe(true);
    });
  });

  it('with costs of swaps, begins with the path that leaves most after them, and leaves no less than it', () => {
    let changed = 0;
    forPlans(({ baseline, plan }, { tokenPaths, order, limits }) => {
      const part = baseline.found / 200n + 1n;
      const costOf = ({ pool }: Hop, level: number) =>
        part * (BigInt(pool.address) % 4n) + (part / 10n) * BigInt(level);
      const costly = { ...order, costOf };
      const found = findPlan(tokenPaths, costly, limits, noLimit);
      if (typeof found === 'string') throw new Error('costs took a plan away');
      const left = (fills: readonly HopFill<TestPool>[], result: bigint) => {
        const cost = sum(fills.map(({ hop, level }) => costOf(hop, level)));
        return order.tradeType === 'exact_in' ? result - cost : result + cost;
      };
      const singles = pathsOf(tokenPaths).flatMap((path) => settle([{ path, given: order.given }])?.routes ?? []);
      const afterwards = singles.map(({ fills, found: result }) => left(fills, result));
      const [best] = afterwards.sort((one, other) => (isBetter(order.tradeType, one, other) ? -1 : 1));
      expect(left(found.baseline.fills, found.baseline.found)).toBe(best);
      const whole = left(
        found.plan.routes.flatMap(({ fills }) => [...fills]),
        found.plan.found,
      );
      expect(isBetter(order.tradeType, best as bigint, whole)).toBe(false);
      if (found.plan.routes.length < plan.routes.length) changed += 1;
    });
    expect(changed).toBeGreaterThan(0);
  });

  it('scores every path once', () => {
    forPlans(({ considered }, { tokenPaths }) => expect(considered).toBe(pathsOf(tokenPaths).length));
  });
});
