import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PACKED_VARIANTS, packedVariant } from '../../devnet/packed/variants.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { MAX_POSITION } from '../../protocol/pool-state.ts';
import { type FillCurve, fillCurve, foundAt } from '../../protocol/routing/fill-curve.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import {
  anyPricedPool,
  fitOnChain,
  overrides,
  type PackedTestPool,
  shownPrices,
  simulate,
  startedTestPools,
  startPackedChain,
} from './packed-chain.ts';
import { runWalk } from './run-walk.ts';

/*
 * What levels promise for any amount, by a walk that interpolates between them as clients and routes do, against what
 * the chain gives and takes for it.
 */

const RUNS = runs(4);
/** Every bin that holds something holds dozens of tokens. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };
/** Units of an input that a pool's roundings of cost and fee may take. */
const ROUNDED = 2n;
const E18 = 10n ** 18n;
const Q64 = 1n << 64n;
/** Parts of a segment between levels at which amounts lie, in millionths: most are near its ends, where a line errs. */
const PARTS_E6 = [1n, 30n, 1_000n, 9_000n, 100_000n, 500_000n, 900_000n, 991_000n, 999_000n, 999_970n, 999_999n];

const packedChain = startedWorld(startPackedChain);

const OFF_OUTPUT = packedVariant('offOutput');
const VARIANTS = [...PACKED_VARIANTS, OFF_OUTPUT, { ...OFF_OUTPUT, zeroAmounts: 'revert' as const }];

describe.each(VARIANTS)('of a side that charges by the rule $rule, whose zero amounts $zeroAmounts,', (variant) => {
  const made = startedTestPools(packedChain, variant, [
    [18, 18],
    [18, 6],
    [6, 18],
  ]);

  const drawn = () => anyPricedPool(made.pools, AMPLE);

  it('no amount is promised more than the chain gives, where it is simulated', async () => {
    const property = fc.asyncProperty(drawn(), async ({ pool, priced }) => {
      const { bids, asks } = await walked(pool, priced);
      for (const [zeroForOne, levels] of [
        [true, bids],
        [false, asks],
      ] as const) {
        expect(await brokenPromises(pool, priced, zeroForOne, levels)).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('no amount is promised more than the chain gives, where it is fitted', async () => {
    const property = fc.asyncProperty(drawn(), fc.boolean(), fc.nat(), async ({ pool, priced }, zeroForOne, draw) => {
      const curve = await fitOnChain(packedChain, pool, { priced, zeroForOne, draw });
      if (curve) expect(await brokenPromises(pool, priced, zeroForOne, curve.levels)).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it.each([true, false])('in narrow bins, promises are at most 20 ppm below, sale: %s', async (zeroForOne) => {
    for (const pool of made.pools) {
      const priced = dearThenFree(pool);
      const { bids, asks } = await walked(pool, priced);
      const levels = zeroForOne ? bids : asks;
      expect(levels).toHaveLength(4);
      expect(await brokenPromises(pool, priced, zeroForOne, levels, 20n)).toEqual([]);
    }
  });
});

async function walked(pool: PackedTestPool, priced: PricedPool) {
  const { address, deployment } = pool;
  const request = { pool: address, priced, form: deployment.variant.simulation, isGuarded: false, silenced: [] };
  const prices = await shownPrices(packedChain, pool, priced);
  const { curve } = await runWalk(packedChain.chain, request, prices, overrides(pool, priced));
  return { bids: curve.bids.levels, asks: curve.asks.levels };
}

/** Bins of 40 ppm whose price gets better along either side: a fee of 6%, none, 3%, none; 0.9% on the notional. */
function dearThenFree({ immutables }: PackedTestPool): PricedPool {
  const fees = [60_000, 0, 30_000, 0];
  const bins = Array.from({ length: immutables.highestBin - immutables.lowestBin + 1 }, (_, index) => {
    const bin = immutables.lowestBin + index;
    const addFeeE6 = fees[Math.abs(bin)] ?? 0;
    return {
      token0Scaled: bin >= 0 ? 37n * E18 + 12_345n : 0n,
      token1Scaled: bin <= 0 ? 91n * E18 + 54_321n : 0n,
      lengthE6: 40,
      addFeeBuyE6: addFeeE6,
      addFeeSellE6: addFeeE6,
    };
  });
  const cursor = { bin: 0, position: MAX_POSITION / 3n, lowerDistE6: -13 };
  const referenceX64 = (Q64 * 25n) / 10n;
  const quote = { bidX64: (referenceX64 * 9_998n) / 10_000n, askX64: (referenceX64 * 10_002n) / 10_000n, referenceX64 };
  return pricePool({ ...immutables, pauseLevel: 0, cursor, spreadFeeE6: 100_000, notionalFeeE8: 900_000, bins }, quote);
}

/**
 * Amounts for which the chain gives less, or takes more, than the levels promise, roundings of a unit or two aside.
 *
 * @param withinPpm also inputs for which it gives so much more
 */
async function brokenPromises(
  pool: PackedTestPool,
  priced: PricedPool,
  zeroForOne: boolean,
  levels: readonly DepthLevel[],
  withinPpm?: bigint,
): Promise<string[]> {
  const [sales, purchases] = [fillCurve(levels, 'exact_in'), fillCurve(levels, 'exact_out')];
  const inputs = amountsAlong(sales.given);
  const outputs = amountsAlong(purchases.given);
  const probes = [...inputs, ...outputs.map((output) => -output)];
  const fills = await simulate(
    packedChain,
    pool,
    priced,
    probes.map((amountSpecified) => ({ zeroForOne, amountSpecified })),
  );
  return probes.flatMap((amount, index) => {
    const fill = fills[index] ?? { amountIn: 0n, amountOut: 0n };
    if (amount < 0n) {
      const most = highestCost(purchases, -amount);
      return fill.amountOut === -amount && fill.amountIn <= most
        ? []
        : [`${amount}: ${most} was promised, took ${fill.amountIn} for ${fill.amountOut}`];
    }
    const [promised, least] = [foundAt(sales, amount), lowestOutput(sales, amount)];
    const isNear = withinPpm === undefined || fill.amountOut - promised <= 4n + (promised * withinPpm) / 1_000_000n;
    return fill.amountOut >= least && isNear ? [] : [`${amount}: ${promised} was promised, gave ${fill.amountOut}`];
  });
}

/** The least that an input may give: what is promised, and between levels what units of the input less give. */
function lowestOutput(sales: FillCurve, input: bigint): bigint {
  return foundAt(sales, sales.given.includes(input) ? input : maxBigint(input - ROUNDED, 0n));
}

/**
 * The most that an output may cost: what is promised, and between levels what a unit more costs,
 * and units of the input.
 */
function highestCost(purchases: FillCurve, output: bigint): bigint {
  const promised = foundAt(purchases, output);
  return purchases.given.includes(output) ? promised : foundAt(purchases, output + 1n) + ROUNDED;
}

/** Ends of levels, and amounts between them. */
function amountsAlong(ends: readonly bigint[]): bigint[] {
  const amounts = ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0n;
    return [...PARTS_E6.map((part) => start + ((end - start) * part) / 1_000_000n), end - 1n, end];
  });
  return [...new Set(amounts)].filter((amount) => amount > 0n);
}
