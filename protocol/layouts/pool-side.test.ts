import { expect, test } from 'vitest';
import { MAX_INT128, Q64 } from '../fixed-point.ts';
import { tokenScale } from '../scaling.ts';
import { flatSimulation } from './flat/adapter.ts';
import { pricePool, sideCurve } from './flat/geometry.ts';
import { poolSide } from './pool-side.ts';

const ROOM = (1n << 104n) - 1n;

/** Asks of a pool of some bins with these whole tokens in each, at a billion token1 each. */
function asksOf(whole: bigint, bins: number) {
  const shape = { token1Scaled: 0n, lengthE6: 1_000, addFeeBuyE6: 0, addFeeSellE6: 0 };
  const state = {
    lowestBin: 0,
    highestBin: bins - 1,
    scale: tokenScale(18, 18),
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
    spreadFeeE6: 0,
    notionalFeeE8: 0,
    bins: Array.from({ length: bins }, () => ({ ...shape, token0Scaled: whole * 10n ** 18n })),
  };
  const price = 10n ** 9n * Q64;
  const priced = pricePool(state, { bidX64: (price * 9_999n) / 10_000n, askX64: (price * 10_001n) / 10_000n });
  return poolSide(sideCurve(priced, false), flatSimulation, 'flat');
}

test('a side ends where a bin has no room for more of the input', () => {
  const roomy = asksOf(20_000n, 3);
  expect([roomy.levels.length, roomy.maxInput]).toEqual([3, MAX_INT128]);
  const { levels, maxInput } = asksOf(25_000n, 3);
  expect([levels.length, levels.at(-1)?.cumulativeInput, maxInput]).toEqual([1, ROOM, ROOM]);
  expect((levels.at(-1)?.cumulativeOutput ?? 0n) / 10n ** 18n).toBe(20_272n);
});
