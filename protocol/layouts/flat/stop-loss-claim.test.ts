import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/harness/property-seed.ts';
import { type PoolSide, SMALLEST_SWAP } from '../../curve.ts';
import type { ExecutableLevels } from '../../depth.ts';
import { agreedLevels, cautiousClaim, claimSide, confirmClaim } from '../../guards/side-claim.ts';
import { poolSide } from '../pool-side.ts';
import { flatSimulation } from './adapter.ts';
import { sideCurve } from './geometry.ts';
import { type ModelPool, modelPool, simulateOnModel } from './stop-loss-model.fixture.ts';

const PARTS = [1n, 7n, 30n, 55n, 80n, 99n];
const MILLION = 1_000_000n;

/** What is offered of a side of the pool: claimed by its state, confirmed by the pool's answers. */
function offered(pool: ModelPool, side: PoolSide, seen: { probes: number; contradicted: number }): ExecutableLevels {
  const answers = (inputs: readonly bigint[]) => inputs.map((input) => simulateOnModel(pool, side.zeroForOne, input));
  const claim = claimSide(side, pool.release.mark, pool.stopLoss);
  seen.probes += claim.inputs.length;
  const { levels, isContradicted } = confirmClaim(claim, answers(claim.inputs));
  if (isContradicted) seen.contradicted += 1;
  if (levels !== undefined) return levels;
  const cautious = cautiousClaim(side, pool.stopLoss);
  return agreedLevels(cautious, answers(cautious.inputs));
}

/** Amounts of an offer, and the smallest outputs. */
function amountsWithin(levels: ExecutableLevels): bigint[] {
  const { cumulativeInput: input, cumulativeOutput: output } = levels?.at(-1) ?? {
    cumulativeInput: 0n,
    cumulativeOutput: 0n,
  };
  if (output === 0n) return [];
  const parts = (end: bigint) => [...PARTS.map((part) => (end * part) / 100n), end / MILLION, end - 1n, end];
  const outputs = [1n, ...parts(output)].filter((amount) => amount > 0n && amount <= output);
  return [...parts(input).filter((amount) => amount > 0n), ...outputs.map((amount) => -amount)];
}

/** Whether more than a millionth of a side trades: every amount up to there that is tried. */
function trades(pool: ModelPool, side: PoolSide): boolean {
  const whole = side.levels.at(-1);
  if (!whole || whole.cumulativeOutput < MILLION) return false;
  const amounts = [1n, 2n, 3n, 5n, 8n, 12n].map((part) => (whole.cumulativeInput * part) / (8n * MILLION) + 1n);
  return [SMALLEST_SWAP, ...amounts].every((amount) => fills(pool, side, amount));
}

const fills = (pool: ModelPool, side: PoolSide, amount: bigint): boolean =>
  side.swapOutcome(simulateOnModel(pool, side.zeroForOne, amount)) === 'fills';

test('of sides with any rounding nothing offered is refused, and hardly one is closed that trades', () => {
  const seen = { sides: 0, closed: 0, closedThatTrade: 0, whole: 0, refused: 0, probes: 0, contradicted: 0 };
  fc.assert(
    fc.property(modelPool, fc.boolean(), (pool, zeroForOne) => {
      const side = poolSide(sideCurve(pool.priced, zeroForOne), flatSimulation, 'flat');
      const levels = offered(pool, side, seen);
      const amounts = amountsWithin(levels);
      seen.sides += 1;
      seen.refused += amounts.filter((amount) => !fills(pool, side, amount)).length;
      if (levels === side.levels) seen.whole += 1;
      if (amounts.length > 0) return;
      seen.closed += 1;
      if (trades(pool, side)) seen.closedThatTrade += 1;
    }),
    { numRuns: runs(2_000) },
  );
  expect([seen.refused, seen.contradicted], JSON.stringify(seen)).toEqual([0, 0]);
  expect(seen.probes, JSON.stringify(seen)).toBeLessThan(1.5 * seen.sides);
  expect(seen.closedThatTrade, JSON.stringify(seen)).toBeLessThanOrEqual(seen.sides / 200);
  expect(Math.min(seen.closed, seen.whole), JSON.stringify(seen)).toBeGreaterThan(seen.sides / 20);
});
