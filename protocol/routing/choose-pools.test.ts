import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choosePools, type PoolLimits, type RoughOrder } from './choose-pools.ts';
import { type CrowdedPool, crowdedMarket } from './crowded-market.arbitrary.ts';
import type { TradeType } from './fill-curve.ts';
import { type Corridor, corridors, PoolGraph } from './graph.ts';
import { hopCorridors, orderIn, TOKEN_IN, TOKEN_OUT } from './market.arbitrary.ts';
import { findPlan } from './plan.ts';
import { outlookOf, type Prospect } from './prospect.ts';

const LIMITS: PoolLimits = { maxPoolsPerPair: 24, maxPoolsPerRequest: 100, maxTokensSearched: 2_000 };
const PLAN = { maxRoutes: 4, minLegFractionE6: 20_000, splitThresholdE6: 500, minImprovementE6: 100 };
/** Requests of the same order, at one block each, before the one that is compared. */
const REQUESTS_BEFORE = 3;

type Seen = Set<CrowdedPool>;

function choose(pools: readonly CrowdedPool[], order: RoughOrder, read: Seen): ReadonlySet<CrowdedPool> {
  const prospect = (pool: CrowdedPool): Prospect<CrowdedPool> => ({
    pool,
    outlook: read.has(pool) ? outlookOf(pool.side) : pool.isSeen ? pool.before : pool.claim,
    isSeen: read.has(pool) || pool.isSeen,
    tierRank: pool.tierRank,
    cost: 1,
  });
  const legs = [...corridors(new PoolGraph(pools), TOKEN_IN, TOKEN_OUT)].map(
    ({ legs: [first, second] }): Corridor<Prospect<CrowdedPool>> => {
      if (!second) return { legs: [first.map(prospect)] };
      const both = [first.map(prospect), second.map(prospect)] as const;
      return { legs: order.tradeType === 'exact_in' ? both : [both[1], both[0]] };
    },
  );
  return choosePools(legs, order, LIMITS);
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
        const order = { tradeType, given: Number(given) };
        const read: Seen = new Set();
        for (let request = 0; request < REQUESTS_BEFORE; request++) {
          for (const pool of choose(pools, order, read)) read.add(pool);
        }
        const chosen = choose(pools, order, read);
        const plan = (list: readonly CrowdedPool[]) =>
          findPlan(hopCorridors(list, tradeType), { tradeType, given }, PLAN, () => undefined);
        const [all, some] = [plan(pools), plan(pools.filter((pool) => chosen.has(pool)))];
        if (typeof all === 'string') return;
        cases += 1;
        if (chosen.size < pools.length) bounded += 1;
        if (typeof some === 'string') return;
        const [best, found] = [all.plan.found, some.plan.found];
        const lost = tradeType === 'exact_in' ? best - found : found - best;
        if (lost * 1_000n <= best) close += 1;
      }),
      { numRuns: 200 },
    );
    expect(bounded).toBeGreaterThan(100);
    expect(close / cases).toBeGreaterThanOrEqual(0.99);
  });
});

let names = 0;

interface Known {
  /** Input and output of the one point known; null for a pool of which nothing is known. */
  readonly depth: readonly [number, number] | null;
  readonly isSeen?: boolean;
  readonly tierRank?: number;
  readonly cost?: number;
}

function known({ depth, isSeen = true, tierRank = 1, cost = 1 }: Known): Prospect {
  names += 1;
  const token = { address: TOKEN_IN };
  const pool = { address: `0x${names.toString(16).padStart(40, '0')}` as const, token0: token, token1: token };
  return { pool, outlook: depth && { inputs: [depth[0]], outputs: [depth[1]] }, isSeen, tierRank, cost };
}

const many = (count: number, made: () => Prospect) => Array.from({ length: count }, made);
const ORDER: RoughOrder = { tradeType: 'exact_in', given: 1_000 };
const sizeOf = (chosen: ReadonlySet<unknown>, list: readonly Prospect[]) =>
  list.filter(({ pool }) => chosen.has(pool)).length;

describe('the chosen pools', () => {
  it('are all of them while they are within the limits, also those without depth', () => {
    const leg = [...many(10, () => known({ depth: [0, 0] })), ...many(10, () => known({ depth: null }))];
    expect(choosePools([{ legs: [leg] }], ORDER, LIMITS).size).toBe(20);
  });

  it('hold the honest pools among 5,000 that claim more', () => {
    const seen = many(8, () => known({ depth: [1_000, 990] }));
    const shown = many(2_000, () => known({ depth: [1e9, 1e8] }));
    const claims = many(3_000, () => known({ depth: [1e9, 2e9], isSeen: false }));
    const graded = many(3, () => known({ depth: [1_000, 990], isSeen: false, tierRank: 4 }));
    const chosen = choosePools([{ legs: [[...claims, ...shown, ...seen, ...graded]] }], ORDER, LIMITS);
    expect(chosen.size).toBe(24);
    expect([seen, graded].map((list) => sizeOf(chosen, list))).toEqual([8, 3]);
  });

  it('hold deep pools for the whole of an order, and cheap ones for a part of it', () => {
    const deep = many(30, () => known({ depth: [1_000, 900] }));
    const cheap = many(5, () => known({ depth: [60, 59] }));
    const dust = many(5, () => known({ depth: [1, 1] }));
    const chosen = choosePools([{ legs: [[...dust, ...deep, ...cheap]] }], ORDER, LIMITS);
    expect([deep, cheap, dust].map((list) => sizeOf(chosen, list))).toEqual([19, 5, 0]);
  });

  it('cost no more than a request may', () => {
    const leg = () => many(24, () => known({ depth: [1_000, 990], cost: 5 }));
    expect(choosePools([{ legs: [leg()] }], ORDER, LIMITS).size).toBe(20);
    const others = Array.from({ length: 9 }, () => ({ legs: [leg(), leg()] as const }));
    expect(choosePools([{ legs: [leg()] }, ...others], ORDER, LIMITS).size).toBe(20);
  });

  it('lead over the middle tokens that both legs have depth for', () => {
    const corridor = (first: number, second: number) => {
      const side = (depth: number) => many(12, () => known({ depth: [depth, depth] }));
      return { legs: [side(first), side(second)] as const };
    };
    const good = Array.from({ length: 4 }, () => corridor(1_000, 1_000));
    const half = Array.from({ length: 40 }, (_, index) => (index % 2 ? corridor(1e9, 1) : corridor(1, 1e9)));
    const chosen = choosePools([...half, ...good], ORDER, LIMITS);
    const prospects = good.flatMap(({ legs }) => legs.flat());
    expect(sizeOf(chosen, prospects)).toBe(prospects.length);
    expect(chosen.size).toBeLessThanOrEqual(100);
  });

  it('hold the paths that were seen among thousands of middle tokens that claim more', () => {
    const path = (depth: number, isSeen: boolean) => {
      const leg = () => [known({ depth: [depth, depth], isSeen })];
      return { legs: [leg(), leg()] as const };
    };
    const claims = Array.from({ length: 1_000 }, () => path(1e9, false));
    const seen = Array.from({ length: 12 }, () => path(900, true));
    const chosen = choosePools([...claims, ...seen], ORDER, LIMITS);
    expect(chosen.size).toBe(100);
    expect(
      sizeOf(
        chosen,
        seen.flatMap(({ legs }) => legs.flat()),
      ),
    ).toBe(24);
  });

  it.each(['exact_in', 'exact_out'] as const)('are whole paths while nothing is known, %s', (tradeType) => {
    const leg = () => many(30, () => known({ depth: null }));
    const list = Array.from({ length: 30 }, () => ({ legs: [leg(), leg()] as const }));
    const chosen = choosePools(list, { ...ORDER, tradeType }, LIMITS);
    expect(chosen.size).toBe(100);
    for (const { legs } of list) for (const side of legs) expect(sizeOf(chosen, side)).toBeGreaterThan(0);
  });
});
