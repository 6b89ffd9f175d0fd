import { expect, it } from 'vitest';
import { tokenPaths } from '../../protocol/routing/graph.ts';
import { type PoolExtension, PoolTable, type ServedPool } from './pool-directory.ts';
import { numberedAddress as address, flatPool, numberedToken as token } from './served-pool.fixture.ts';

const pool = (
  number: number,
  chainId: number,
  extensions: readonly Omit<PoolExtension, 'address'>[] = [],
): ServedPool =>
  flatPool(number, {
    chainId,
    extensions: extensions.map((extension, index) => ({ ...extension, address: address(900 + index) })),
  });

const directPools = (table: PoolTable) =>
  [...tokenPaths(table.graph(1), address(1), address(2))].flatMap(({ legs }) => legs[0]);

it('changes pool by pool, and so does the graph of each chain', () => {
  const [here, there, next] = [pool(12, 1), pool(12, 2), pool(11, 1)];
  const table = new PoolTable([here, there]);
  expect(directPools(table)).toEqual([here]);
  table.put(next);
  expect(directPools(table)).toEqual([here, next]);
  const changed = { ...here, pair: 'T1/T3', token1: token(3) };
  table.put(changed);
  expect(table.find(1, here.address)).toBe(changed);
  expect(directPools(table)).toEqual([next]);
  table.remove(next, 'not_served');
  table.remove(next, 'not_served');
  expect(directPools(table)).toEqual([]);
  expect(table.graph(1).neighbours(address(2)).size).toBe(0);
  expect(table.find(1, next.address)).toBeUndefined();
  expect([1, 2].flatMap((chainId) => table.ofChain(chainId))).toEqual([changed, there]);
});

it.each([
  ['stopLoss', 'afterSwap', true],
  ['priceVelocityGuard', 'beforeSwap', true],
  ['depositAllowlist', 'beforeAddLiquidity', true],
  ['swapAllowlist', 'beforeSwap', false],
  ['custom', 'beforeSwap', false],
  ['custom', 'afterSwap', false],
  ['custom', 'beforeRemoveLiquidity', true],
] as const)('routes use a pool with %s in %s: %s', (kind, phase, isOpen) => {
  expect(directPools(new PoolTable([pool(11, 1, [{ kind, phases: [phase] }])]))).toHaveLength(isOpen ? 1 : 0);
});

it('one extension of the wrong kind is enough to leave a pool out', () => {
  const both = [
    { kind: 'stopLoss', phases: ['afterSwap'] },
    { kind: 'swapAllowlist', phases: ['beforeSwap'] },
  ] as const;
  expect(directPools(new PoolTable([pool(11, 1, both)]))).toEqual([]);
});
