import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillCurve, type TradeType } from './fill-curve.ts';
import { anySide } from './market.fixture.ts';

const tradeType = fc.constantFrom<TradeType>('exact_in', 'exact_out');

it('steps get more expensive outward, end at bin edges and reach the end of the side', () => {
  fc.assert(
    fc.property(anySide, tradeType, (side, type) => {
      const curve = fillCurve(side, type);
      const { steps } = curve;
      expect(steps.at(-1)?.end).toBe(curve.given.at(-1));
      for (const [index, { end, rateX128 }] of steps.entries()) {
        expect(curve.given).toContain(end);
        const next = steps[index + 1];
        if (next) expect(next.end > end && next.rateX128 <= rateX128).toBe(true);
      }
    }),
  );
});

it('no bin edge lies above the line of its step', () => {
  fc.assert(
    fc.property(anySide, (side) => {
      const curve = fillCurve(side, 'exact_in');
      let start = { input: 0n, output: 0n };
      for (const { end } of curve.steps) {
        const endOutput = curve.found[curve.given.indexOf(end)] ?? 0n;
        for (const [index, input] of curve.given.entries()) {
          if (input <= start.input || input >= end) continue;
          const rise = ((curve.found[index] ?? 0n) - start.output) * (end - start.input);
          expect(rise <= (endOutput - start.output) * (input - start.input)).toBe(true);
        }
        start = { input: end, output: endOutput };
      }
    }),
  );
});

it('merges a dear bin with the cheap one behind it', () => {
  const level = (cumulativeInput: bigint, cumulativeOutput: bigint) => ({ cumulativeInput, cumulativeOutput });
  const side = [level(100n, 100n), level(200n, 150n), level(300n, 230n)];
  const ends = (type: TradeType) => fillCurve(side, type).steps.map(({ end }) => end);
  expect(ends('exact_in')).toEqual([100n, 300n]);
  expect(ends('exact_out')).toEqual([100n, 230n]);
});
