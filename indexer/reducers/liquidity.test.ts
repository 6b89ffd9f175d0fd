import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LiquidityChanged } from '../../protocol/pool-events.ts';
import { sumLiquidityChange } from './liquidity.ts';

const provider = '0x00000000000000000000000000000000000000aa';

function change(direction: 'added' | 'removed', deltas: readonly (readonly [bigint, bigint])[]): LiquidityChanged {
  const changes = deltas.map(([delta0Scaled, delta1Scaled], bin) => ({
    bin,
    delta0Scaled,
    delta1Scaled,
    sharesDelta: 1n,
  }));
  return { kind: 'liquidityChanged', direction, provider, salt: 0n, changes };
}

test.each([
  ['nothing', [], 10n, 0n, 0n],
  ['whole units in', [[20n, 0n]], 10n, 20n, 2n],
  ['a fraction in is rounded up', [[21n, 0n]], 10n, 21n, 3n],
  ['a fraction out is rounded down', [[-29n, 0n]], 10n, -29n, -2n],
  ['less than a unit out is nothing', [[-9n, 0n]], 10n, -9n, 0n],
  [
    'bins are added up before the one rounding',
    [
      [4n, 0n],
      [4n, 0n],
      [3n, 0n],
    ],
    10n,
    11n,
    2n,
  ],
  ['one scaled unit is one raw unit', [[-7n, 0n]], 1n, -7n, -7n],
] as const)('%s', (_, deltas, token0ScaleMultiplier, delta0Scaled, amount0Raw) => {
  const direction = delta0Scaled < 0n ? 'removed' : 'added';
  const sums = sumLiquidityChange(change(direction, deltas), { token0ScaleMultiplier, token1ScaleMultiplier: 1n });
  expect(sums).toEqual({ delta0Scaled, amount0Raw, delta1Scaled: 0n, amount1Raw: 0n });
});

test('raw amounts differ from scaled ones by less than a unit, always in the pool’s favour', () => {
  const amount = fc.bigInt({ min: 0n, max: 1n << 104n });
  const deltas = fc.array(fc.tuple(amount, amount), { maxLength: 8 });
  const exponent = fc.integer({ min: 0, max: 12 });
  fc.assert(
    fc.property(deltas, fc.boolean(), exponent, exponent, (pairs, added, e0, e1) => {
      const signed = pairs.map(([a, b]) => (added ? ([a, b] as const) : ([-a, -b] as const)));
      const scale = { token0ScaleMultiplier: 10n ** BigInt(e0), token1ScaleMultiplier: 10n ** BigInt(e1) };
      const sums = sumLiquidityChange(change(added ? 'added' : 'removed', signed), scale);
      const gain0 = sums.amount0Raw * scale.token0ScaleMultiplier - sums.delta0Scaled;
      const gain1 = sums.amount1Raw * scale.token1ScaleMultiplier - sums.delta1Scaled;
      expect(gain0 >= 0n && gain0 < scale.token0ScaleMultiplier).toBe(true);
      expect(gain1 >= 0n && gain1 < scale.token1ScaleMultiplier).toBe(true);
    }),
  );
});
