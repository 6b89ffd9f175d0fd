import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { computeSwap } from '../../test/protocol/flat-swap.ts';
import { divCeil, E8, maxBigint, Q64 } from '../fixed-point.ts';
import { MAX_POSITION } from '../pool-state.ts';
import type { TradeType } from './fill-curve.ts';
import { type FoundPlan, findPlan } from './plan.ts';
import { type MarketPool, oneHopMarket, tokenPathOf } from './priced-market.fixture.ts';
import type { Hop, HopFill } from './routes.ts';

/**
 * What one-hop plans leave of the intermediate token when the pools execute the planned amounts: an exact input gets
 * more of it from first legs than planned, an exact output spends less of it on second legs. Both are the near hops.
 */

const E18 = 10n ** 18n;
const limits = { maxRoutes: 4, minLegFractionE6: 0, splitThresholdE6: 0, minImprovementE6: 0 };

type Plan = FoundPlan<MarketPool>['plan'];

function forPlans(tradeType: TradeType, check: (plan: Plan) => void): void {
  let plans = 0;
  let splits = 0;
  fc.assert(
    fc.property(oneHopMarket(tradeType), (market) => {
      const found = findPlan([tokenPathOf(market)], market, limits, () => undefined);
      if (typeof found === 'string') return;
      plans += 1;
      if (found.plan.routes.length > 1) splits += 1;
      check(found.plan);
    }),
    { numRuns: runs(300) },
  );
  expect(plans).toBeGreaterThan(runs(120));
  expect(splits).toBeGreaterThan(runs(10));
}

/** What a plan does with one pool in all its routes together. */
interface Use {
  readonly hop: Hop<MarketPool>;
  readonly given: bigint;
  readonly found: bigint;
  /** Of the fill that goes farthest. */
  readonly level: number;
}

function nearUses(plan: Plan): Use[] {
  const uses = new Map<Hop<MarketPool>, Use>();
  for (const { fills } of plan.routes) {
    const near: HopFill<MarketPool> = fills[0];
    const before = uses.get(near.hop) ?? { given: 0n, found: 0n };
    const sums = { given: before.given + near.given, found: before.found + near.found };
    uses.set(near.hop, { hop: near.hop, ...sums, level: near.level });
  }
  return [...uses.values()];
}

/** What the pool really gives for an exact input, or takes for an exact output. */
function foundOnChain({ hop: { pool, zeroForOne } }: Use, tradeType: TradeType, given: bigint): bigint {
  const { priced } = pool.side;
  return tradeType === 'exact_in'
    ? computeSwap(priced, { zeroForOne, kind: 'exactInput', amount: given }).amountOut
    : computeSwap(priced, { zeroForOne, kind: 'exactOutput', amount: given }).amountIn;
}

/** Half the relative width of the prices in the bin that the use ends in, x 10^18, rounded up. */
function halfWidthE18({ hop, level }: Use): bigint {
  const slice = hop.pool.side.steps[level]?.slice;
  if (!slice) throw new RangeError('no such bin');
  const { lowerX64, upperX64 } = slice.edges;
  const cursorX64 = lowerX64 + ((upperX64 - lowerX64) * slice.position) / MAX_POSITION;
  const [low, high] = slice.zeroForOne ? [lowerX64, cursorX64] : [cursorX64, upperX64];
  return divCeil((high - low) * E18, 2n * low);
}

/**
 * The walk takes the notional fee off the output, at the price of its end, while the pool adds the fee of an exact
 * output to the input, at the mean price without bin fees. The difference as a part of the input, x 10^18, rounded up.
 */
function feeDifferenceE18({ hop: { pool, zeroForOne }, level }: Use): bigint {
  const { bestX64, levels, steps, priced } = pool.side;
  const notionalE18 = (BigInt(priced.state.notionalFeeE8) * E18) / E8;
  const mostExpensive = levels.slice(0, level + 1).reduce((most, { priceX64 }) => {
    const ratio = zeroForOne ? divCeil(bestX64 * E18, priceX64) : divCeil(priceX64 * E18, bestX64);
    return maxBigint(ratio, most);
  }, E18);
  const startFactorX64 = steps[0]?.slice.charge.factorX64 ?? Q64;
  const overBest = divCeil(mostExpensive * startFactorX64, Q64) - E18;
  return divCeil(notionalE18 * (overBest + notionalE18), E18);
}

/**
 * A raw unit of the intermediate token, and what one of the other token (or more) is worth in it: on average, or where
 * the use ends. There, they may be all that the walk and the pool differ in, as levels are whole units.
 */
function roundingOf({ hop, level, given, found }: Use, tradeType: TradeType, units = 1n): bigint {
  const levels = hop.pool.side.levels.slice(0, level + 1);
  const [end, start = { cumulativeInput: 0n, cumulativeOutput: 0n }] = levels.reverse();
  const input = (end?.cumulativeInput ?? 0n) - start.cumulativeInput;
  const output = (end?.cumulativeOutput ?? 0n) - start.cumulativeOutput;
  const [other, intermediate] = tradeType === 'exact_in' ? [input, output] : [output, input];
  return 1n + units * maxBigint(divCeil(found, given), other > 0n ? divCeil(intermediate, other) : 0n);
}

describe('a plan leaves of the intermediate token', () => {
  it('at most half the width of a bin, when each leg is given its planned input', () => {
    forPlans('exact_in', (plan) => {
      for (const use of nearUses(plan)) {
        const left = foundOnChain(use, 'exact_in', use.given) - use.found;
        expect(left >= -roundingOf(use, 'exact_in')).toBe(true);
        // The input of a level is rounded up twice: as an amount, and with its fee.
        expect((left - roundingOf(use, 'exact_in', 2n)) * E18 <= use.found * halfWidthE18(use)).toBe(true);
      }
    });
  });

  it('at most half the width of a bin and a part of the notional fee, when each leg gives its planned output', () => {
    forPlans('exact_out', (plan) => {
      for (const use of nearUses(plan)) {
        const left = use.found - foundOnChain(use, 'exact_out', use.given);
        expect(left >= -roundingOf(use, 'exact_out')).toBe(true);
        const bound = halfWidthE18(use) + feeDifferenceE18(use);
        expect((left - roundingOf(use, 'exact_out')) * E18 <= use.found * bound).toBe(true);
      }
    });
  });
});
