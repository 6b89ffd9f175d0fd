import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertUntil } from '../../../test/harness/assert-until.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import type { SideLimit } from '../../curve.ts';
import { Q64 } from '../../fixed-point.ts';
import { binAt } from '../../pool-state.ts';
import type { StopLossState, WatchedBin } from '../../stop-loss/stop-loss.ts';
import { fillExactInput } from '../bin-fill.ts';
import type { PricedPool } from '../ladder.ts';
import { levelsWithin } from '../side-amounts.ts';
import { multipliers, type SideCurve } from '../side-curve.ts';
import { stopLossLimit } from '../stop-loss-limit.ts';
import { FEE_FORMULAS, formulaCurve } from './formulas.ts';
import { pricedPool } from './pool-state.fixture.ts';

const E18 = 10n ** 18n;
const E6 = 1_000_000n;
const NOW = 1_000_000n;
const PARTS = [1n, 3n, 20n, 45n, 55n, 80n, 99n, 100n];

type Balances = readonly [token0: bigint, token1: bigint];

/** As the extension does: token1 at the bid, token0 at the ask, each divided by shares first. */
function metrics([token0, token1]: Balances, shares: bigint, { quote }: PricedPool): Balances {
  const [per0, per1] = [(token0 * E18) / shares, (token1 * E18) / shares];
  return [per0 + (per1 * Q64) / quote.bidX64, (per0 * quote.askX64) / Q64 + per1];
}

// Where a bin's price crosses the mark its value dips by a few millionths: a floor close below the start meets it.
const nearness = fc.oneof(fc.integer({ min: -3_000, max: 2_000 }), fc.integer({ min: -100, max: 0 }));
const guarded = fc
  .record({
    priced: pricedPool,
    formula: fc.constantFrom(...FEE_FORMULAS),
    zeroForOne: fc.boolean(),
    drawdownE6: fc.integer({ min: 1, max: 60_000 }),
    bins: fc.array(fc.record({ bits: fc.integer({ min: 0, max: 80 }), near: fc.tuple(nearness, nearness) }), {
      minLength: 12,
      maxLength: 12,
    }),
    /** The part of each fee that stays with its bin, millionths. */
    keptE6: fc.oneof({ weight: 4, arbitrary: fc.constant(0n) }, fc.constant(E6), fc.bigInt(0n, E6)),
  })
  .map(({ priced, formula, zeroForOne, drawdownE6, bins, keptE6 }) => {
    const { state } = priced;
    const watched = state.bins.flatMap(({ token0Scaled, token1Scaled }, index): [number, WatchedBin][] => {
      const { bits = 0, near = [0, 0] } = bins[index] ?? {};
      if (bits === 0) return [];
      const shares = 1n << BigInt(bits);
      const [token0 = 0n, token1 = 0n] = metrics([token0Scaled, token1Scaled], shares, priced).map(
        (value, side) => (value * (E6 + BigInt(near[side] ?? 0))) / (E6 - BigInt(drawdownE6)),
      );
      return [[state.lowestBin + index, { shares, watermarks: { token0, token1, updatedAt: NOW } }]];
    });
    const stopLoss: StopLossState = {
      drawdownE6,
      decayPerSecond: 0n,
      decayScale: E18,
      timestamp: NOW,
      bins: new Map(watched),
    };
    const sides = formulaCurve(priced, formula);
    return { side: zeroForOne ? sides.bids : sides.asks, stopLoss, keptE6 };
  });

/** Whether the extension refuses an exact input, raw units, where this part of the fees stays with the bins. */
function refuses(side: SideCurve, { drawdownE6, bins }: StopLossState, keptE6: bigint, input: bigint): boolean {
  const { priced, zeroForOne, steps } = side;
  const [multiplierIn] = multipliers(side);
  for (const { slice, inputBefore } of steps) {
    const rest = input * multiplierIn - inputBefore;
    if (rest <= 0n) return false;
    const { output, net, input: paid } = fillExactInput(slice, rest);
    const added = net + ((paid - net) * keptE6) / E6;
    const { token0Scaled, token1Scaled } = binAt(priced.state, slice.bin);
    const after: Balances = zeroForOne
      ? [token0Scaled + added, token1Scaled - output]
      : [token0Scaled - output, token1Scaled + added];
    const watched = bins.get(slice.bin);
    if (!watched) continue;
    const index = zeroForOne ? 0 : 1;
    const high = zeroForOne ? watched.watermarks.token0 : watched.watermarks.token1;
    if (metrics(after, watched.shares, priced)[index] < (high * (E6 - BigInt(drawdownE6))) / E6) return true;
  }
  return false;
}

const levelsOf = (side: SideCurve, limit: SideLimit | null) =>
  limit ? levelsWithin(side, limit.most, limit.level) : side.levels;

test('every input inside the limit is accepted, whatever part of the fees stays with the bins', async () => {
  const seen = { cut: 0, closed: 0, open: 0 };
  await assertUntil(
    () => Math.min(...Object.values(seen)) > runs(12),
    fc.property(guarded, ({ side, stopLoss, keptE6 }) => {
      const limit = stopLossLimit(side, 'bidAsk', stopLoss);
      seen[limit === null ? 'open' : limit.most === 0n ? 'closed' : 'cut'] += 1;
      if (limit?.most === 0n) return;
      const ends = levelsOf(side, limit).map(({ cumulativeInput }) => cumulativeInput);
      if (limit) expect((ends.at(-1) ?? 0n) <= limit.most).toBe(true);
      for (const [index, end] of ends.entries()) {
        const start = ends[index - 1] ?? 0n;
        for (const part of PARTS) {
          expect(refuses(side, stopLoss, keptE6, start + ((end - start) * part) / 100n)).toBe(false);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});

test('an amount beyond the limit that is not the whole side is refused even when all of the fees stay', async () => {
  let known = 0;
  // A twelfth of the draws, more or less.
  await assertUntil(
    () => known > runs(6),
    fc.property(guarded, ({ side, stopLoss, keptE6 }) => {
      const limit = stopLossLimit(side, 'bidAsk', stopLoss);
      if (!limit?.beyond || limit.most === 0n || limit.beyond === side.levels.at(-1)?.cumulativeInput) return;
      known += 1;
      expect(refuses(side, stopLoss, keptE6, limit.beyond)).toBe(true);
    }),
    { numRuns: runs(300) },
  );
});
