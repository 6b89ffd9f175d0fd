import fc from 'fast-check';
import type { Address } from 'viem';
import { describe, expect, it } from 'vitest';
import { candidateCorridors } from './candidates.ts';
import { choosePools, type PoolLimits } from './choose-pools.ts';
import { type CrowdedPool, crowdedMarket } from './crowded-market.arbitrary.ts';
import type { TradeType } from './fill-curve.ts';
import { type Corridor, corridors, PoolGraph } from './graph.ts';
import { type Liquidity, LiquidityIndex } from './liquidity-index.ts';
import { orderIn, TOKEN_IN, TOKEN_OUT } from './market.arbitrary.ts';
import type { Prospect } from './prospect.ts';

const LIMITS: PoolLimits = { maxPoolsPerPair: 24, maxPoolsPerRequest: 100, maxTokensSearched: 2_000 };

const outlook = (pool: CrowdedPool) => (pool.isSeen ? pool.before : pool.claim);
const liquidity = (pool: CrowdedPool, timesE3 = 1_000): Liquidity => ({
  bids: ((outlook(pool).outputs.at(-1) ?? 0) * timesE3) / 1_000,
  asks: 0,
  isSeen: timesE3 === 1_000 ? pool.isSeen : !pool.isSeen,
});

/** Changes of what is known of pools before it is as it is. */
const history = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 5_000 })), { maxLength: 200 });

function indexOf(pools: readonly CrowdedPool[], before: readonly (readonly [number, number])[]) {
  const index = new LiquidityIndex<CrowdedPool>();
  for (const [number, timesE3] of before) {
    const pool = pools[number % pools.length] as CrowdedPool;
    index.put(pool, timesE3 % 3 === 0 ? null : liquidity(pool, timesE3));
  }
  for (const pool of pools) index.put(pool, liquidity(pool));
  return index;
}

function choose(list: Iterable<Corridor<CrowdedPool>>, tradeType: TradeType, given: bigint): ReadonlySet<CrowdedPool> {
  const prospect = (pool: CrowdedPool): Prospect<CrowdedPool> => ({
    pool,
    outlook: outlook(pool),
    isSeen: pool.isSeen,
    tierRank: pool.tierRank,
    cost: 1,
  });
  const prospects = [...list].map(({ legs: [first, second] }): Corridor<Prospect<CrowdedPool>> => {
    if (!second) return { legs: [first.map(prospect)] };
    const both = [first.map(prospect), second.map(prospect)] as const;
    return { legs: tradeType === 'exact_in' ? both : [both[1], both[0]] };
  });
  return choosePools(prospects, { tradeType, given: Number(given) }, LIMITS);
}

describe('the pools that are compared', () => {
  it('give the same choice as all pools with depth, however their depth changed before', () => {
    const cases = fc
      .tuple(crowdedMarket, fc.constantFrom<TradeType>('exact_in', 'exact_out'), history)
      .chain(([{ pools, scaleIn, scaleOut }, tradeType, before]) =>
        fc.record({
          pools: fc.constant(pools),
          tradeType: fc.constant(tradeType),
          before: fc.constant(before),
          given: orderIn(tradeType === 'exact_in' ? scaleIn : scaleOut),
        }),
      );
    fc.assert(
      fc.property(cases, ({ pools, tradeType, before, given }) => {
        const sources = { graph: new PoolGraph(pools), index: indexOf(pools, before), isUnknown: null };
        const some = candidateCorridors(sources, TOKEN_IN, TOKEN_OUT, LIMITS);
        const withDepth = new PoolGraph(pools.filter((pool) => liquidity(pool).bids > 0));
        const all = corridors(withDepth, TOKEN_IN, TOKEN_OUT);
        const names = (chosen: ReadonlySet<CrowdedPool>) => [...chosen].map(({ address }) => address).sort();
        expect(names(choose(some, tradeType, given))).toEqual(names(choose(all, tradeType, given)));
      }),
      { numRuns: 100 },
    );
  });
});

interface MadePool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
}

let names = 0;
const token = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

function made(tokenIn: Address, tokenOut: Address): MadePool {
  names += 1;
  return { address: token(1_000_000 + names), token0: { address: tokenIn }, token1: { address: tokenOut } };
}

const claims = (bids: number): Liquidity => ({ bids, asks: 0, isSeen: false });
const seen = (bids: number): Liquidity => ({ bids, asks: 0, isSeen: true });
const poolsOf = (list: readonly Corridor<MadePool>[]) => list.flatMap(({ legs }) => legs.flat());

describe('a crowd', () => {
  it('of thousands of pools and middle tokens changes neither what is kept of the honest ones nor the number compared', () => {
    const [graph, index] = [new PoolGraph<MadePool>(), new LiquidityIndex<MadePool>()];
    const add = (pool: MadePool, of: Liquidity) => {
      graph.add(pool);
      index.put(pool, of);
      return pool;
    };
    const offer = (first: number, count: number) => {
      for (let number = first; number < first + count; number++) {
        add(made(TOKEN_IN, TOKEN_OUT), number % 2 ? claims(1) : seen(1));
        // A stranger's token promises any amount of itself.
        add(made(TOKEN_IN, token(number)), number % 2 ? claims(1e30) : seen(1e30));
        add(made(token(number), TOKEN_OUT), number % 3 ? claims(2) : seen(2));
      }
    };
    offer(10_000, 2_000);
    const honest = [
      ...Array.from({ length: 20 }, () => add(made(TOKEN_IN, TOKEN_OUT), claims(1_000))),
      ...[1, 2, 3].flatMap((via) => [
        add(made(TOKEN_IN, token(via)), claims(1_000)),
        add(made(token(via), TOKEN_OUT), claims(900)),
      ]),
    ];
    const compared = () => poolsOf(candidateCorridors({ graph, index, isUnknown: null }, TOKEN_IN, TOKEN_OUT, LIMITS));
    const few = compared();
    expect(honest.filter((pool) => !few.includes(pool))).toEqual([]);
    offer(20_000, 4_000);
    const many = compared();
    expect(honest.filter((pool) => !many.includes(pool))).toEqual([]);
    expect(many.length).toBe(few.length);
  });

  it('leaves places to the paths that were seen, whatever others claim', () => {
    const [graph, index] = [new PoolGraph<MadePool>(), new LiquidityIndex<MadePool>()];
    const path = (via: number, of: Liquidity) => {
      const pools = [made(TOKEN_IN, token(via)), made(token(via), TOKEN_OUT)];
      for (const pool of pools) {
        graph.add(pool);
        index.put(pool, of);
      }
      return pools;
    };
    for (let via = 0; via < 3_000; via++) path(1_000 + via, claims(1e9));
    const known = [1, 2, 3].flatMap((via) => path(via, seen(5)));
    const compared = poolsOf(candidateCorridors({ graph, index, isUnknown: null }, TOKEN_IN, TOKEN_OUT, LIMITS));
    expect(known.filter((pool) => !compared.includes(pool))).toEqual([]);
  });
});

it('pools of which nothing is known are compared in the order of the graph, as many as could be read', () => {
  const pools = [
    ...Array.from({ length: 50 }, () => made(TOKEN_IN, TOKEN_OUT)),
    ...Array.from({ length: 300 }, (_, via) => [
      made(TOKEN_IN, token(1_000 + via)),
      made(token(1_000 + via), TOKEN_OUT),
    ]).flat(),
  ];
  const sources = { graph: new PoolGraph(pools), index: new LiquidityIndex<MadePool>(), isUnknown: () => true };
  const found = candidateCorridors(sources, TOKEN_IN, TOKEN_OUT, LIMITS);
  expect(found).toHaveLength(101);
  expect(found[0]?.legs).toEqual([pools.slice(0, 24)]);
  const fewer = candidateCorridors(sources, TOKEN_IN, TOKEN_OUT, { ...LIMITS, maxTokensSearched: 6 });
  expect(fewer).toHaveLength(6);
});

it('a pool that is no longer served is not compared', () => {
  const pools = [made(TOKEN_IN, TOKEN_OUT), made(TOKEN_IN, TOKEN_OUT)] as const;
  const [graph, index] = [new PoolGraph<MadePool>(pools), new LiquidityIndex<MadePool>()];
  for (const pool of pools) index.put(pool, claims(1));
  graph.remove(pools[0]);
  const found = candidateCorridors({ graph, index, isUnknown: null }, TOKEN_IN, TOKEN_OUT, LIMITS);
  expect(poolsOf(found)).toEqual([pools[1]]);
});
