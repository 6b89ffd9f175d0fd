import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PoolSide, SMALLEST_SWAP, type SwapOutcome } from '../curve.ts';
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

test('every bin is tried at its start, inside and at its end, in order, from the smallest swap', () => {
  fc.assert(
    fc.property(inputs, (amounts) => {
      const side = sideOf(amounts);
      const points = everyBin(side);
      expect(points[0]).toBe(SMALLEST_SWAP);
      expect(isAscending(points)).toBe(true);
      let before = 0n;
      for (const { cumulativeInput } of side.levels) {
        const inBin = points.filter((point) => point > before && point <= cumulativeInput);
        const width = cumulativeInput - before;
        // The smallest swap is the start of the first bin.
        const wanted = before === 0n ? 2 : 3;
        expect(inBin.length).toBeGreaterThanOrEqual(width > 2n ? wanted : Math.min(Number(width), wanted - 1));
        before = cumulativeInput;
      }
    }),
  );
});

test('a budget is kept, and whatever it is the smallest swap and the whole side are tried', () => {
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
  ['silence at the smallest swap closes the side', ['silence', 'fills'], 0n],
  ['a refused smallest swap closes the side', ['refused', 'fills'], 0n],
  ['a velocity guard closes the side', ['velocity', 'fills'], 0n],
  ['amounts that round to zero say nothing', ['tooSmall', 'tooSmall', 'fills', 'tooSmall', 'refused'], 3n],
  ['a side of which no amount gives anything is not cut', ['tooSmall', 'tooSmall'], null],
  ['an amount that is too large ends the side', ['fills', 'fills', 'tooLarge'], 2n],
  ['a smallest swap that is too large closes nothing', ['tooLarge', 'fills'], null],
])('%s', (_name, outcomes, most) => {
  const probed = outcomes.map((outcome, index) => ({ input: BigInt(index + 1), outcome, result: null }));
  expect(limitOf(sideOf([10n]), probed)?.most ?? null).toBe(most);
});
