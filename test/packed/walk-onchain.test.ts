import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SideOfBin } from '../../devnet/packed/model-prices.fixture.ts';
import { PACKED_VARIANTS, packedVariant } from '../../devnet/packed/variants.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { edgeDistancesE6, type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { feeFreeSide } from '../../protocol/layouts/packed/fee-free-side.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/packed/pool-state.fixture.ts';
import { binAt, MAX_POSITION } from '../../protocol/pool-state.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import {
  anyPricedPool,
  createTestPools,
  overrides,
  type PackedTestPool,
  shownPrices,
  simulate,
  startedTestPools,
  startPackedChain,
} from './packed-chain.ts';
import { runWalk } from './run-walk.ts';

/** Random pools of each variant. */
const RUNS = runs(3);
/** From less than a raw unit of a token with few decimals. */
const ANY = { minBits: 0, maxBits: 80, empty: true };
/** Every bin that holds something holds dozens of tokens. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };
/** Two to four million units of a token with six decimals. */
const FEW_UNITS = { minBits: 41, maxBits: 62, empty: true };
const ONE = 10n ** 18n;
const Q64 = 1n << 64n;

const packedChain = startedWorld(startPackedChain);

describe.each([...PACKED_VARIANTS, { ...packedVariant('older'), zeroAmounts: 'revert' as const }])(
  'a pool that charges by the rule $rule, whose zero amounts $zeroAmounts, simulated',
  (variant) => {
    const made = startedTestPools(packedChain, variant, [
      [18, 6],
      [8, 18],
    ]);

    it.each([
      ['whatever it holds', ANY, false],
      ['where it holds more than dust, at a price that the chain keeps', AMPLE, true],
    ])('has every edge on the chain %s', async (_, amounts, isAmple) => {
      const drawn = anyPricedPool(made.pools, amounts);
      let edges = 0;
      const property = fc.asyncProperty(drawn, async ({ pool, priced }) => {
        const { sides } = await walked(pool, priced);
        for (const [zeroForOne, levels] of [
          [true, sides.bids],
          [false, sides.asks],
        ] as const) {
          const whole = feeFreeSide(priced, zeroForOne).levels;
          expect(levels.map(({ bin }) => bin)).toEqual(whole.map(({ bin }) => bin));
          await expectOnChain(pool, priced, zeroForOne, levels);
          // Where it grows unevenly, with bins of all lengths and fees, means do not show the fee at the edge.
          if (isAmple && variant.rule !== 'growing') expectPrices(pool, priced, zeroForOne, levels, 1_000_000n);
          expectNoBetterThanFills(priced, zeroForOne, levels);
          edges += levels.length ?? 0;
        }
      });
      await fc.assert(property, { numRuns: RUNS });
      expect(edges).toBeGreaterThan(RUNS);
    });
  },
);

describe('a pool with 60 bins a side', () => {
  it.each(PACKED_VARIANTS.filter(({ rule }) => rule === 'growing' || rule === 'productOnEdges'))(
    'takes a call or little more a side where it charges by the rule $rule',
    async (variant) => {
      const [pool] = await createTestPools(packedChain, variant, [[18, 18]], [-59, 59]);
      if (pool === undefined) throw new Error('no pool');
      const priced = manyBins(pool);
      const { sides, calls } = await walked(pool, priced);
      expect([sides.bids.length, sides.asks.length]).toEqual([60, 60]);
      expect(calls).toBeLessThanOrEqual(variant.rule === 'growing' ? 2 : 4);
      for (const [zeroForOne, levels] of [
        [true, sides.bids],
        [false, sides.asks],
      ] as const) {
        await expectOnChain(pool, priced, zeroForOne, levels.slice(-2));
        expectPrices(pool, priced, zeroForOne, levels);
        const [worst, far] = [levels.at(-1)?.priceX64 ?? 0n, farPrice(pool, priced, zeroForOne, zeroForOne ? -59 : 59)];
        expect(((worst - far) * 1_000n) / far).toBe(0n);
      }
    },
  );
});

it('promises no unit that an exact input does not give where a fee on the whole is worth less than a unit', async () => {
  const pools = await createTestPools(packedChain, packedVariant('older'), [
    [18, 6],
    [6, 6],
  ]);
  const drawn = fc
    .constantFrom(...pools)
    .chain((pool) =>
      fc
        .tuple(poolStateOf(pool.immutables, FEW_UNITS), quoteUpTo(4), fc.integer({ min: 1, max: 20 }))
        .map(([state, quote, notionalFeeE8]) => ({ pool, priced: pricePool({ ...state, notionalFeeE8 }, quote) })),
    );
  const property = fc.asyncProperty(drawn, async ({ pool, priced }) => {
    const { sides } = await walked(pool, priced);
    await expectOnChain(pool, priced, true, sides.bids);
    await expectOnChain(pool, priced, false, sides.asks);
  });
  await fc.assert(property, { numRuns: 3 * RUNS });
});

async function walked(pool: PackedTestPool, priced: PricedPool) {
  const { address, deployment } = pool;
  const request = { pool: address, priced, form: deployment.variant.simulation, isGuarded: false, silenced: [] };
  const prices = await shownPrices(packedChain, pool, priced);
  const { curve, calls } = await runWalk(packedChain.chain, request, prices, overrides(pool, priced));
  return { sides: { bids: curve.bids.levels, asks: curve.asks.levels }, calls };
}

/**
 * An input of each level gives its output, and two units less give no more. Where the pool keeps a part of the output,
 * levels may lie a hundred-thousandth and a unit behind the edges.
 */
async function expectOnChain(
  pool: PackedTestPool,
  priced: PricedPool,
  zeroForOne: boolean,
  levels: readonly DepthLevel[],
): Promise<void> {
  const ask = async (amountSpecified: bigint) =>
    amountSpecified === 0n ? null : (await simulate(packedChain, pool, priced, [{ zeroForOne, amountSpecified }]))[0];
  for (const { cumulativeInput, cumulativeOutput } of levels) {
    if (cumulativeInput === 0n) {
      expect(cumulativeOutput).toBe(0n);
      continue;
    }
    expect((await ask(cumulativeInput))?.amountOut ?? 0n).toBeGreaterThanOrEqual(cumulativeOutput);
    const isKept = pool.deployment.variant.rule === 'older';
    const less = cumulativeInput - 2n - (isKept ? cumulativeInput / 100_000n : 0n);
    const most = cumulativeOutput + (isKept ? 1n : 0n);
    if (less > 0n) expect((await ask(less))?.amountOut ?? 0n).toBeLessThanOrEqual(most);
  }
}

/** The price of each level is no better than what its bin takes and gives on average, as far as raw units show that. */
function expectNoBetterThanFills({ state }: PricedPool, zeroForOne: boolean, levels: readonly DepthLevel[]): void {
  const { multiplier0, multiplier1 } = state.scale;
  const [perInput, perOutput] = zeroForOne ? [multiplier0, multiplier1] : [multiplier1, multiplier0];
  let [input, output] = [0n, 0n];
  for (const { priceX64, cumulativeInput, cumulativeOutput } of levels) {
    const [paid, given] = [cumulativeInput - input - 1n, cumulativeOutput - output + 1n];
    [input, output] = [cumulativeInput, cumulativeOutput];
    if (paid <= 0n) continue;
    if (zeroForOne) expect(priceX64 * paid * perInput).toBeLessThanOrEqual(given * perOutput * Q64);
    else expect(priceX64 * given * perOutput).toBeGreaterThanOrEqual(paid * perInput * Q64);
  }
}

/** The price of each level is that at the edge of its bin, or worse; or better by one part of N. */
function expectPrices(
  pool: PackedTestPool,
  priced: PricedPool,
  zeroForOne: boolean,
  levels: readonly DepthLevel[],
  part?: bigint,
): void {
  for (const { bin, priceX64 } of levels) {
    const far = farPrice(pool, priced, zeroForOne, bin);
    const slack = part ? far / part : 0n;
    if (zeroForOne) expect(priceX64).toBeLessThanOrEqual(far + slack);
    else expect(priceX64).toBeGreaterThanOrEqual(far - slack);
  }
}

/** What the pool would show with its cursor at the far edge of a bin. */
function farPrice(
  { deployment }: PackedTestPool,
  { state, quote }: PricedPool,
  zeroForOne: boolean,
  bin: number,
): bigint {
  const { addFeeBuyE6, addFeeSellE6, lengthE6, token0Scaled, token1Scaled } = binAt(state, bin);
  const fees = { addFeeBuyE6: BigInt(addFeeBuyE6), addFeeSellE6: BigInt(addFeeSellE6) };
  const packed = { ...fees, balance0: token0Scaled, balance1: token1Scaled, lengthE6: BigInt(lengthE6), shares: 0n };
  const distanceE6 = BigInt(edgeDistancesE6(state)[bin - state.lowestBin] ?? 0);
  const notionalFeeE8 = BigInt(state.notionalFeeE8);
  const position = zeroForOne ? 0n : MAX_POSITION;
  const side = { zeroForOne, bin: packed, distanceE6, position, notionalFeeE8 };
  return new SideOfBin(deployment.variant.rule, quote, side).poolPrice(notionalFeeE8);
}

/** Bins of a tenth of a percent, the cursor inside the middle one. */
function manyBins({ immutables }: PackedTestPool): PricedPool {
  const bins = Array.from({ length: immutables.highestBin - immutables.lowestBin + 1 }, (_, index) => {
    const bin = immutables.lowestBin + index;
    return {
      token0Scaled: bin >= 0 ? 37n * ONE : 0n,
      token1Scaled: bin <= 0 ? 91n * ONE : 0n,
      lengthE6: 1_000,
      addFeeBuyE6: 300,
      addFeeSellE6: 200,
    };
  });
  const cursor = { bin: 0, position: MAX_POSITION / 3n, lowerDistE6: -700 };
  const referenceX64 = (Q64 * 25n) / 10n;
  const quote = { bidX64: (referenceX64 * 9_998n) / 10_000n, askX64: (referenceX64 * 10_002n) / 10_000n, referenceX64 };
  return pricePool({ ...immutables, pauseLevel: 0, cursor, spreadFeeE6: 100_000, notionalFeeE8: 70_000, bins }, quote);
}
