import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/harness/property-seed.ts';
import { closedFormOutput } from '../../../test/protocol/closed-form-swap.ts';
import { toRawFloor, toScaled } from '../../scaling.ts';
import { levelAtInput, levelsWithin } from '../side-amounts.ts';
import { multipliers } from '../side-curve.ts';
import { pricePool, sideCurve } from './geometry.ts';
import { poolState, quoteUpTo } from './pool-state.fixture.ts';

const PARTS = 10n ** 12n;

test('a pool that stops short gives at least the output of every pair for exactly its input', () => {
  let short = 0;
  fc.assert(
    fc.property(poolState, quoteUpTo(30), fc.boolean(), fc.bigInt(1n, PARTS), (state, quote, zeroForOne, part) => {
      const side = sideCurve(pricePool(state, quote), zeroForOne);
      const [multiplierIn, multiplierOut] = multipliers(side);
      const most = ((side.levels.at(-1)?.cumulativeInput ?? 0n) * part) / PARTS;
      const levels = [...side.levels, ...levelsWithin(side, most, side.levels.length)];
      for (const { cumulativeInput, cumulativeOutput } of levels) {
        const given = toRawFloor(closedFormOutput(side, toScaled(cumulativeInput, multiplierIn)), multiplierOut);
        expect(given).toBeGreaterThanOrEqual(cumulativeOutput);
        if (given < (levelAtInput(side, cumulativeInput)?.cumulativeOutput ?? 0n)) short += 1;
      }
    }),
    { numRuns: runs(3_000) },
  );
  expect(short).toBeGreaterThan(100);
});

test('the pair where a side is cut has what the pool gave for it', () => {
  fc.assert(
    fc.property(poolState, quoteUpTo(30), fc.boolean(), fc.bigInt(1n, PARTS), (state, quote, zeroForOne, part) => {
      const side = sideCurve(pricePool(state, quote), zeroForOne);
      const most = ((side.levels.at(-1)?.cumulativeInput ?? 0n) * part) / PARTS;
      const whole = side.levels.filter(({ cumulativeInput }) => cumulativeInput <= most);
      const computed = levelAtInput(side, most)?.cumulativeOutput ?? 0n;
      const given = computed - computed / 1_000n;
      const stop = levelsWithin(side, most, side.levels.length, given)[whole.length];
      fc.pre(stop !== undefined && given > (whole.at(-1)?.cumulativeOutput ?? 0n));
      expect(stop).toMatchObject({ cumulativeInput: most, cumulativeOutput: given });
    }),
  );
});
