import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, it } from 'vitest';
import { type GraphPool, PoolGraph, tokenPaths } from './graph.ts';

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

const pools: fc.Arbitrary<GraphPool[]> = fc
  .array(
    fc.tuple(fc.nat(6), fc.nat(6)).filter(([a, b]) => a !== b),
    { maxLength: 25 },
  )
  .map((pairs) =>
    pairs.map(([a, b], index) => ({
      address: address(100 + index),
      token0: { address: address(a) },
      token1: { address: address(b) },
    })),
  );

const joins = (pool: GraphPool, a: Address, b: Address) =>
  (pool.token0.address === a && pool.token1.address === b) || (pool.token0.address === b && pool.token1.address === a);

it('paths hold every direct pool and every pair of pools over one token, once each', () => {
  fc.assert(
    fc.property(pools, (list) => {
      const [tokenIn, tokenOut] = [address(0), address(1)];
      const found = [...tokenPaths(new PoolGraph(list), tokenIn, tokenOut)].flatMap(({ legs: [first, second] }) =>
        second ? first.flatMap((a) => second.map((b) => [a.address, b.address])) : first.map((a) => [a.address]),
      );
      const direct = list.filter((pool) => joins(pool, tokenIn, tokenOut)).map((pool) => [pool.address]);
      const others = [2, 3, 4, 5, 6].map(address);
      const hops = list.flatMap((a) =>
        list
          .filter((b) => others.some((via) => joins(a, tokenIn, via) && joins(b, via, tokenOut)))
          .map((b) => [a.address, b.address]),
      );
      expect(found.map(String).sort()).toEqual([...direct, ...hops].map(String).sort());
    }),
  );
});

it('finds nothing for a token without pools', () => {
  expect([...tokenPaths(new PoolGraph<GraphPool>(), address(0), address(1))]).toEqual([]);
});
