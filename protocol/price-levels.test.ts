import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertUntil } from '../test/harness/assert-until.ts';
import { runs } from '../test/harness/property-seed.ts';
import { computeSwap } from '../test/protocol/flat-swap.ts';
import { flatSimulation } from './layouts/flat/adapter.ts';
import { sideCurve } from './layouts/flat/geometry.ts';
import { pricedPool } from './layouts/flat/pool-state.fixture.ts';
import { poolSide } from './layouts/pool-side.ts';
import { levelsWithin } from './layouts/side-amounts.ts';
import { type PriceLevel, priceLevels, smallestInput, thinLevels } from './price-levels.ts';

const PARTS = 1_000_000n;

test('each level has the output of a swap of its input, both ascend, and the last one is the end of the side', async () => {
  let inside = 0;
  await assertUntil(
    () => inside > runs(100),
    fc.property(pricedPool, fc.boolean(), fc.bigInt(1n, PARTS), (priced, zeroForOne, part) => {
      const curve = sideCurve(priced, zeroForOne);
      const most = ((curve.levels.at(-1)?.cumulativeInput ?? 0n) * part) / PARTS;
      const trading = levelsWithin(curve, most, curve.levels.length);
      const levels = priceLevels(trading, poolSide(curve, flatSimulation, 'flat').outputOf);
      const ends = trading.map(({ cumulativeInput }) => cumulativeInput);
      levels.forEach(({ amountIn, amountOut, isExact }, index) => {
        const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: amountIn });
        expect(swap).toMatchObject({ amountIn, amountOut });
        const before = levels[index - 1] ?? { amountIn: 0n, amountOut: 0n };
        expect(isExact && amountIn > before.amountIn && amountOut > before.amountOut).toBe(true);
        if (!ends.includes(amountIn)) inside += 1;
      });
      const last = levels.at(-1);
      if (last) expect(last.amountOut).toBeGreaterThanOrEqual(trading.at(-1)?.cumulativeOutput ?? 0n);
      const end = trading.at(-1)?.cumulativeInput ?? 0n;
      const swap = computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: end });
      expect(last?.amountOut ?? 0n).toBe(end === 0n ? 0n : swap.amountOut);
    }),
  );
});

test('of the smallest input a swap pays out something, of one unit less nothing', async () => {
  let found = 0;
  await assertUntil(
    () => found > runs(10),
    fc.property(pricedPool, fc.boolean(), (priced, zeroForOne) => {
      const curve = sideCurve(priced, zeroForOne);
      const smallest = smallestInput(poolSide(curve, flatSimulation, 'flat'));
      const outputAt = (amount: bigint) => computeSwap(priced, { zeroForOne, kind: 'exactInput', amount }).amountOut;
      if (smallest === null) {
        const end = curve.levels.at(-1)?.cumulativeInput ?? 0n;
        expect(end === 0n ? 0n : outputAt(end)).toBe(0n);
        return;
      }
      expect(outputAt(smallest)).toBeGreaterThan(0n);
      if (smallest > 1n) expect(outputAt(smallest - 1n)).toBe(0n);
      if (smallest > 1n) found += 1;
    }),
  );
  expect(smallestInput({ outputOf: null, inputWithin: () => 4n })).toBeNull();
});

test('a curve that is not known between its levels has the ends of its bins alone, each once', () => {
  const pairs = [
    [10n, 0n],
    [20n, 5n],
    [20n, 5n],
    [40n, 9n],
  ] as const;
  const levels = pairs.map(([cumulativeInput, cumulativeOutput], bin) => {
    return { bin, priceX64: 0n, priceImpactE6: 0n, cumulativeInput, cumulativeOutput };
  });
  expect(priceLevels(levels, null)).toEqual([
    { amountIn: 20n, amountOut: 5n, isExact: false },
    { amountIn: 40n, amountOut: 9n, isExact: false },
  ]);
});

/** Levels whose outputs ascend in any way, as where a farther bin has lower fees. */
const anyLevels = fc
  .array(fc.tuple(fc.bigInt(1n, 1_000n), fc.bigInt(1n, 1_000n)), { maxLength: 60 })
  .map((steps): PriceLevel[] => {
    let [amountIn, amountOut] = [0n, 0n];
    return steps.map(([input, output]) => {
      amountIn += input;
      amountOut += output;
      return { amountIn, amountOut, isExact: true };
    });
  });

/** What the line between levels gives, times the length of its part: no division. */
function isAbove(levels: readonly PriceLevel[], { amountIn, amountOut }: PriceLevel): boolean {
  const index = levels.findIndex((level) => level.amountIn >= amountIn);
  const [start, end] = [levels[index - 1] ?? { amountIn: 0n, amountOut: 0n }, levels[index]];
  if (!end) return true;
  const line = (end.amountOut - start.amountOut) * (amountIn - start.amountIn);
  return line > (amountOut - start.amountOut) * (end.amountIn - start.amountIn);
}

test('thinned levels are some of all, with the end, and promise nowhere more', () => {
  fc.assert(
    fc.property(anyLevels, fc.integer({ min: 1, max: 70 }), (levels, most) => {
      const thinned = thinLevels(levels, most);
      expect(levels.filter((level) => thinned.includes(level))).toEqual(thinned);
      expect(thinned.at(-1)).toBe(levels.at(-1));
      expect(levels.filter((level) => isAbove(thinned, level))).toEqual([]);
      if (levels.length <= most) expect(thinned).toBe(levels);
    }),
  );
});

test('of a side whose price gets worse there are at most as many levels as asked for, spread by ratio', () => {
  const levels = Array.from({ length: 400 }, (_, index): PriceLevel => {
    const amountIn = BigInt(index + 1) * 1_000n;
    return { amountIn, amountOut: BigInt(Math.floor(Math.sqrt(Number(amountIn)) * 1e6)), isExact: true };
  });
  for (let most = 1; most <= 60; most += 1) expect(thinLevels(levels, most).length).toBeLessThanOrEqual(most);
  expect(thinLevels(levels, 5).map(({ amountIn }) => amountIn / 1_000n)).toEqual([1n, 5n, 20n, 90n, 400n]);
  expect(thinLevels(levels, 1)).toEqual(levels.slice(-1));
});
