import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PoolSide, SwapOutcome } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { everyBin, limitOf, withinBudget } from './probe-points.ts';

/** A side whose levels take these inputs. */
function sideOf(inputs: readonly bigint[]): PoolSide {
  let total = 0n;
  const levels = inputs.map((input, bin): DepthLevel => {
    total += input;
    return { bin, priceX64: 1n, cumulativeInput: total, cumulativeOutput: total, priceImpactE6: 0n };
  });
  return { levels, maxInput: 1n << 127n } as unknown as PoolSide;
}

const inputs = fc.array(fc.bigInt(0n, 10n ** 20n), { minLength: 1, maxLength: 130 });
const isAscending = (points: readonly bigint[]) => points.every((point, i) => i === 0 || point > (points[i - 1] ?? 0n));

test('every bin is tried at its start, inside and at its end, in order, from the first unit', () => {
  fc.assert(
    fc.property(inputs, (amounts) => {
      const side = sideOf(amounts);
      const points = everyBin(side);
      expect(points[0]).toBe(1n);
      expect(isAscending(points)).toBe(true);
      let before = 0n;
      for (const { cumulativeInput } of side.levels) {
        const inBin = points.filter((point) => point > before && point <= cumulativeInput);
        const width = cumulativeInput - before;
        expect(inBin.length).toBeGreaterThanOrEqual(width > 2n ? 3 : Number(width));
        before = cumulativeInput;
      }
    }),
  );
});

test('a budget is kept, and whatever it is the first unit and the whole side are tried', () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 2, max: 140 }), (amounts, gas, probes) => {
      const side = sideOf(amounts);
      const all = everyBin(side);
      const points = withinBudget(side, { gas, probes }, () => 1);
      expect(isAscending(points)).toBe(true);
      expect([points[0], points.at(-1)]).toEqual([all[0], all.at(-1)]);
      expect(points.length).toBe(Math.min(all.length, Math.max(2, Math.min(gas, probes))));
    }),
  );
});

test.each<[string, (SwapOutcome | null)[], bigint | null]>([
  ['all that were asked fill: the whole side', ['fills', null, 'fills'], null],
  ['the end is the last that fills before a refusal', ['fills', 'fills', 'refused', 'fills'], 2n],
  ['one that was not asked says nothing', ['fills', null, 'refused'], 1n],
  ['silence is a refusal', ['fills', 'silence'], 1n],
  ['a refused first unit closes the side', ['refused', 'fills'], 0n],
])('%s', (_name, outcomes, most) => {
  const probed = outcomes.map((outcome, index) => ({ input: BigInt(index + 1), outcome }));
  expect(limitOf(sideOf([10n]), probed)?.most ?? null).toBe(most);
});
