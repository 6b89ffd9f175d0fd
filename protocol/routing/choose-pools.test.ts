import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { candidateTokenPaths, type PairOrder } from './candidate-token-paths.ts';
import { choosePools } from './choose-pools.ts';
import { type CrowdedPool, crowdedMarket } from './crowded-market.fixture.ts';
import type { TradeType } from './fill-curve.ts';
import { type GraphPool, PoolGraph, type TokenPath } from './graph.ts';
import { finish, hopPaths, orderIn, TOKEN_IN, TOKEN_OUT } from './market.fixture.ts';
import { findPlan } from './plan.ts';
import { estimateDepth, type PoolCandidate, type RoughOrder } from './pool-candidate.ts';

const MAX_READS = 100;
const PLAN = { maxRoutes: 4, minLegFractionE6: 20_000, splitThresholdE6: 500, minImprovementE6: 100 };
/** Requests of the same order, at one block each, before the one that is compared. */
const REQUESTS_BEFORE = 3;

const poolsOf = <P extends GraphPool>(paths: readonly TokenPath<PoolCandidate<P>>[]): ReadonlySet<P> =>
  new Set(paths.flatMap(({ legs }) => legs.flat().map(({ pool }) => pool)));

/** The pools that a request reads. @param read pools that were read before at this block */
function choose(
  pools: readonly CrowdedPool[],
  order: RoughOrder & PairOrder,
  read: ReadonlySet<CrowdedPool>,
): ReadonlySet<CrowdedPool> {
  const describePool = (pool: CrowdedPool): PoolCandidate<CrowdedPool> => ({
    pool,
    zeroForOne: true,
    estimate: read.has(pool) ? estimateDepth(pool.side) : pool.isObserved ? pool.before : pool.reported,
    isObserved: read.has(pool) || pool.isObserved,
    tierRank: pool.tierRank,
    cost: 1,
  });
  return poolsOf(
    choosePools(finish(candidateTokenPaths(new PoolGraph(pools), describePool, order, MAX_READS)), order, MAX_READS),
  );
}

const search = fc
  .tuple(crowdedMarket, fc.constantFrom<TradeType>('exact_in', 'exact_out'))
  .chain(([market, tradeType]) =>
    fc.record({
      pools: fc.constant(market.pools),
      tradeType: fc.constant(tradeType),
      given: orderIn(tradeType === 'exact_in' ? market.scaleIn : market.scaleOut),
    }),
  );

describe('plans over the chosen pools', () => {
  it('are within 0.1% of those over all pools in 99% of cases', () => {
    let cases = 0;
    let bounded = 0;
    let close = 0;
    fc.assert(
      fc.property(search, ({ pools, tradeType, given }) => {
        const order = { tokenIn: TOKEN_IN, tokenOut: TOKEN_OUT, tradeType, amount: Number(given) };
        const read = new Set<CrowdedPool>();
        for (let request = 0; request < REQUESTS_BEFORE; request++) {
          for (const pool of choose(pools, order, read)) read.add(pool);
        }
        const chosen = choose(pools, order, read);
        const plan = (list: readonly CrowdedPool[]) =>
          findPlan(hopPaths(list, tradeType), { tradeType, given }, PLAN, () => undefined);
        const [all, some] = [plan(pools), plan(pools.filter((pool) => chosen.has(pool)))];
        if (typeof all === 'string') return;
        cases += 1;
        if (chosen.size < pools.length) bounded += 1;
        if (typeof some === 'string') return;
        const [best, found] = [all.plan.found, some.plan.found];
        const lost = tradeType === 'exact_in' ? best - found : found - best;
        if (lost * 1_000n <= best) close += 1;
      }),
      // A share is measured in the same cases in every run.
      { numRuns: runs(200), seed: 1 },
    );
    expect(bounded).toBeGreaterThan(runs(100));
    expect(close / cases).toBeGreaterThanOrEqual(0.99);
  });
});

let names = 0;

interface Known {
  /** Input and output of the one point known; null for a pool of which nothing is known. */
  readonly depth: readonly [number, number] | null;
  readonly isObserved?: boolean;
  readonly tierRank?: number;
  readonly cost?: number;
}

function known({ depth, isObserved = true, tierRank = 1, cost = 1 }: Known): PoolCandidate {
  names += 1;
  const token = { address: TOKEN_IN };
  const pool = { address: `0x${names.toString(16).padStart(40, '0')}` as const, token0: token, token1: token };
  const estimate = depth && { inputs: [depth[0]], outputs: [depth[1]] };
  return { pool, zeroForOne: true, estimate, isObserved: isObserved && depth !== null, tierRank, cost };
}

const many = (count: number, made: () => PoolCandidate) => Array.from({ length: count }, made);
const ORDER: RoughOrder = { tradeType: 'exact_in', amount: 1_000 };
const chosenOf = (paths: readonly TokenPath<PoolCandidate>[], order = ORDER) =>
  poolsOf(choosePools(paths, order, MAX_READS));
const sizeOf = (chosen: ReadonlySet<unknown>, list: readonly PoolCandidate[]) =>
  list.filter(({ pool }) => chosen.has(pool)).length;

describe('the chosen pools', () => {
  it('are all of them while they are within the limits, also those without depth', () => {
    const leg = [...many(10, () => known({ depth: [0, 0] })), ...many(10, () => known({ depth: null }))];
    expect(chosenOf([{ legs: [leg] }]).size).toBe(20);
  });

  it('hold the honest pools among 5,000 that report more', () => {
    const observed = many(8, () => known({ depth: [1_000, 990] }));
    const bad = many(2_000, () => known({ depth: [1e9, 1e8] }));
    const reported = many(3_000, () => known({ depth: [1e9, 2e9], isObserved: false }));
    const graded = many(3, () => known({ depth: [1_000, 990], isObserved: false, tierRank: 4 }));
    const chosen = chosenOf([{ legs: [[...reported, ...bad, ...observed, ...graded]] }]);
    expect(chosen.size).toBe(25);
    expect([observed, graded].map((list) => sizeOf(chosen, list))).toEqual([8, 3]);
  });

  it('leave half of the places of a leg to observed pools, whatever others report and however good other paths are', () => {
    const observed = many(12, () => known({ depth: [1_000, 900] }));
    const reported = () => many(40, () => known({ depth: [1e9, 2e9], isObserved: false, tierRank: 4 }));
    const better = () => many(30, () => known({ depth: [1_000, 1_000] }));
    const paths = [{ legs: [[...reported(), ...observed]] as const }, { legs: [better(), better()] as const }];
    expect(sizeOf(chosenOf(paths), observed)).toBe(12);
  });

  it('hold deep pools for the whole of an order, and cheap ones for a part of it', () => {
    const deep = many(30, () => known({ depth: [1_000, 900] }));
    const cheap = many(5, () => known({ depth: [60, 59] }));
    const dust = many(5, () => known({ depth: [1, 1] }));
    const chosen = chosenOf([{ legs: [[...dust, ...deep, ...cheap]] }]);
    expect([deep, cheap, dust].map((list) => sizeOf(chosen, list))).toEqual([20, 5, 0]);
  });

  it('cost no more than a request may', () => {
    const leg = () => many(24, () => known({ depth: [1_000, 990], cost: 5 }));
    expect(chosenOf([{ legs: [leg()] }]).size).toBe(20);
    const others = Array.from({ length: 9 }, () => ({ legs: [leg(), leg()] as const }));
    expect(chosenOf([{ legs: [leg()] }, ...others]).size).toBe(20);
  });

  it('lead over the intermediate tokens that both legs have depth for', () => {
    const path = (first: number, second: number) => {
      const side = (depth: number) => many(12, () => known({ depth: [depth, depth] }));
      return { legs: [side(first), side(second)] as const };
    };
    const good = Array.from({ length: 4 }, () => path(1_000, 1_000));
    const half = Array.from({ length: 40 }, (_, index) => (index % 2 ? path(1e9, 1) : path(1, 1e9)));
    const chosen = chosenOf([...half, ...good]);
    const candidates = good.flatMap(({ legs }) => legs.flat());
    expect(sizeOf(chosen, candidates)).toBe(candidates.length);
    expect(chosen.size).toBeLessThanOrEqual(MAX_READS);
  });

  it('hold the paths that were observed among thousands of intermediate tokens that report more', () => {
    const path = (depth: number, isObserved: boolean) => {
      const leg = () => [known({ depth: [depth, depth], isObserved })];
      return { legs: [leg(), leg()] as const };
    };
    const reported = Array.from({ length: 1_000 }, () => path(1e9, false));
    const observed = Array.from({ length: 12 }, () => path(900, true));
    const chosen = chosenOf([...reported, ...observed]);
    expect(chosen.size).toBeGreaterThan(90);
    const hops = observed.flatMap(({ legs }) => legs.flat());
    expect(sizeOf(chosen, hops)).toBe(24);
  });

  it.each(['exact_in', 'exact_out'] as const)('are whole paths while nothing is known, %s', (tradeType) => {
    const leg = () => many(30, () => known({ depth: null }));
    const list = Array.from({ length: 30 }, () => ({ legs: [leg(), leg()] as const }));
    const chosen = chosenOf(list, { ...ORDER, tradeType });
    expect(chosen.size).toBe(MAX_READS);
    for (const { legs } of list) for (const side of legs) expect(sizeOf(chosen, side)).toBeGreaterThan(0);
  });
});
