import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { walkExactInput, walkExactOutput } from '../../test/protocol/fill-walk.ts';
import { tradingBins, type WalkLevel } from '../fill-walk.ts';
import { capacity, fillCurve, foundAt, givenWithin, levelAt, type TradeType } from './fill-curve.ts';
import { anySide } from './market.fixture.ts';

const tradeType = fc.constantFrom<TradeType>('exact_in', 'exact_out');
/** A part of a whole, in thousandths. */
const part = fc.bigInt(0n, 1_000n);

const walk = (side: readonly WalkLevel[], type: TradeType, given: bigint) =>
  (type === 'exact_in' ? walkExactInput : walkExactOutput)(tradingBins(side), given);

describe('fill curve', () => {
  it('gives what the plain walk gives, and ends in the same level', () => {
    fc.assert(
      fc.property(anySide, tradeType, part, (side, type, thousandths) => {
        const curve = fillCurve(side, type);
        const given = (capacity(curve) * thousandths) / 1_000n;
        const fill = walk(side, type, given);
        expect(fill.remaining).toBe(0n);
        expect(foundAt(curve, given)).toBe(type === 'exact_in' ? fill.amountOut : fill.amountIn);
        if (given > 0n) expect(levelAt(curve, given)).toBe(fill.lastLevel);
      }),
      { numRuns: runs(250) },
    );
  });

  it('has the capacity at which the plain walk runs out', () => {
    fc.assert(
      fc.property(anySide, tradeType, (side, type) => {
        const curve = fillCurve(side, type);
        expect(walk(side, type, capacity(curve)).remaining).toBe(0n);
        expect(walk(side, type, capacity(curve) + 1n).remaining).toBe(1n);
        expect(() => foundAt(curve, capacity(curve) + 1n)).toThrow(RangeError);
      }),
    );
  });

  it('inverts to the largest amount that leads to no more', () => {
    fc.assert(
      fc.property(anySide, tradeType, part, fc.bigInt(-2n, 2n), (side, type, thousandths, offset) => {
        const curve = fillCurve(side, type);
        const most = foundAt(curve, capacity(curve));
        const found = (most * thousandths) / 1_000n + offset;
        fc.pre(found >= 0n);
        const given = givenWithin(curve, found);
        expect(foundAt(curve, given) <= found).toBe(true);
        if (given < capacity(curve)) expect(foundAt(curve, given + 1n) > found).toBe(true);
      }),
      { numRuns: runs(250) },
    );
  });
});
