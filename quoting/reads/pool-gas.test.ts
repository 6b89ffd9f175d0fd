import { expect, test } from 'vitest';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { PoolGas } from './pool-gas.ts';

const [POOL, OTHER] = [11, 12].map((number) => `0x${'00'.repeat(19)}${number}` as const) as [
  `0x${string}`,
  `0x${string}`,
];

const callOf = (likelyGas: number): BoundedCall => ({
  target: POOL,
  data: '0x',
  likelyGas,
  gasLimit: 10 * likelyGas,
  keptBytes: 32,
});

/** Calls that are likely to take this, and took that. */
const made = (...gas: readonly (readonly [likely: number, used: number])[]) =>
  gas.map(([likely, gasUsed]) => ({ call: callOf(likely), result: { success: true, data: '0x', gasUsed } as const }));

function open() {
  const clock = { ms: 0 };
  const gas = new PoolGas(() => clock.ms);
  const costly: string[] = [];
  gas.onCostly((pool) => costly.push(pool));
  return { gas, clock, costly };
}

const likelyOf = (gas: PoolGas, kind: 'rest' | 'all' = 'rest', pool = POOL): number =>
  gas.packed(kind, pool, [callOf(1_000)])[0]?.likelyGas ?? 0;

test('calls are packed by what the last ones of the same kind and pool took, and some more', () => {
  const { gas } = open();
  expect(likelyOf(gas)).toBe(1_000);
  gas.noteCalls('rest', POOL, made([1_000, 300], [3_000, 900], [0, 5_000]));
  expect(likelyOf(gas)).toBe(375);
  expect([likelyOf(gas, 'all'), likelyOf(gas, 'rest', OTHER)]).toEqual([1_000, 1_000]);
  gas.noteCalls('rest', POOL, made([1_000, 2_000]));
  expect(likelyOf(gas)).toBe(2_500);
});

test('calls that were not made say nothing', () => {
  const { gas } = open();
  gas.noteCalls('rest', POOL, made([1_000, 300]));
  gas.noteCalls('rest', POOL, []);
  expect(likelyOf(gas)).toBe(375);
});

test('a pool is costly for a minute after its calls took more than four times what is likely', () => {
  const { gas, clock, costly } = open();
  gas.noteCalls('rest', POOL, made([1_000, 4_000]));
  expect(gas.isCostly(POOL)).toBe(false);
  gas.noteCalls('rest', POOL, made([1_000, 4_001]));
  // A call in flight.
  gas.noteCalls('all', POOL, made([1_000, 5_000]));
  expect([costly, gas.isCostly(POOL), gas.isCostly(OTHER)]).toEqual([[POOL], true, false]);
  clock.ms = 59_999;
  expect(gas.isCostly(POOL)).toBe(true);
  clock.ms = 60_000;
  expect(gas.isCostly(POOL)).toBe(false);
});

test('what another process found is known, and not told again', () => {
  const { gas, costly } = open();
  gas.takeCostly(OTHER);
  expect([costly, gas.isCostly(OTHER)]).toEqual([[], true]);
});
