import type { Address } from 'viem';
import { expect, it } from 'vitest';
import { corridors } from '../../protocol/routing/graph.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { type PoolExtension, poolTable, type ServedPool } from '../snapshots/pool-directory.ts';
import { poolGraph } from './pool-graphs.ts';

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;
const token = (number: number) => ({ address: address(number), symbol: `T${number}`, decimals: 18 });

function pool(number: number, chainId: number, extensions: readonly Omit<PoolExtension, 'address'>[] = []): ServedPool {
  return {
    chainId,
    address: address(number),
    contractVersion: 'v1',
    layout: 'flat',
    token0: token(1),
    token1: token(2),
    pair: 'T1/T2',
    immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 18) },
    immutableProvider: null,
    extensions: extensions.map((extension, index) => ({ ...extension, address: address(900 + index) })),
    stopLossMark: 'mid',
  };
}

const directPools = (pools: readonly ServedPool[], chainId = 1) =>
  corridors(poolGraph(poolTable(pools), chainId), address(1), address(2)).flatMap(({ legs }) => legs[0]);

it('holds the pools of the chain, and is made once for a table', () => {
  const [here, there] = [pool(11, 1), pool(12, 2)];
  const table = poolTable([here, there]);
  expect(directPools([here, there])).toEqual([here]);
  expect(poolGraph(table, 1)).toBe(poolGraph(table, 1));
  expect(poolGraph(table, 2)).not.toBe(poolGraph(table, 1));
  expect(poolGraph(poolTable([here]), 1)).not.toBe(poolGraph(table, 1));
});

it.each([
  ['stopLoss', 'afterSwap', true],
  ['priceVelocityGuard', 'beforeSwap', true],
  ['depositAllowlist', 'beforeAddLiquidity', true],
  ['swapAllowlist', 'beforeSwap', false],
  ['custom', 'beforeSwap', false],
  ['custom', 'afterSwap', false],
  ['custom', 'beforeRemoveLiquidity', true],
] as const)('a pool with %s in %s: open to anyone is %s', (kind, phase, isOpen) => {
  expect(directPools([pool(11, 1, [{ kind, phases: [phase] }])])).toHaveLength(isOpen ? 1 : 0);
});

it('one extension of the wrong kind is enough to leave a pool out', () => {
  const both = [
    { kind: 'stopLoss', phases: ['afterSwap'] },
    { kind: 'swapAllowlist', phases: ['beforeSwap'] },
  ] as const;
  expect(directPools([pool(11, 1, both)])).toEqual([]);
});
