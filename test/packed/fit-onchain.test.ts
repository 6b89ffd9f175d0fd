import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import type { SideCurve } from '../../protocol/layouts/side-curve.ts';
import { tolerance } from '../../protocol/layouts/tolerance.ts';
import { assertUntil } from '../harness/assert-until.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import {
  anyPricedPool,
  fitOnChain,
  type PackedTestPool,
  simulate,
  startedTestPools,
  startPackedChain,
} from './packed-chain.ts';
import { ordinary } from './packed-states.ts';

/** Random pools of each variant. */
const RUNS = runs(10);

/** From less than a raw unit of a token with few decimals. */
const ANY = { minBits: 0, maxBits: 80, empty: true };
/** Every bin that holds something holds dozens of tokens. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };

const packedChain = startedWorld(startPackedChain);

describe.each(PACKED_VARIANTS)('a side that charges by the rule $rule', (variant) => {
  const { rule } = variant;
  const made = startedTestPools(packedChain, variant, [
    [18, 18],
    [18, 6],
    [6, 18],
    [8, 8],
  ]);

  /** @param leastServed further sides are drawn until more than this many are served */
  const fitRandom = async (amounts: typeof ANY, leastServed = -1): Promise<{ requested: number; served: number }> => {
    const count = { requested: 0, served: 0 };
    const drawn = anyPricedPool(made.pools, amounts);
    const property = fc.asyncProperty(drawn, fc.boolean(), fc.nat(), async ({ pool, priced }, zeroForOne, draw) => {
      const curve = await fitted(pool, priced, zeroForOne, draw);
      count.requested += 1;
      if (curve === null) return;
      count.served += 1;
      await expectOnChain(pool, curve);
    });
    await assertUntil(() => count.served > leastServed, property, { numRuns: RUNS });
    return count;
  };

  it('is served where it holds more than dust, and then has every edge on the chain, rounded against the taker', async () => {
    const { requested, served } = await fitRandom(AMPLE);
    if (rule === 'growing') expect(served).toBeLessThan(requested / 2);
    else expect(served).toBe(requested);
  });

  it('has every edge on the chain whatever it holds, when it is served', async () => {
    await fitRandom(ANY, rule === 'growing' ? undefined : RUNS / 4);
  });

  it.runIf(rule === 'growing')('is not served where a proof drawn at random would not see how it grows', async () => {
    const pool = made.pools[2];
    if (pool === undefined) throw new Error('no such pool');
    for (const draw of [0, 1, 2, 3]) expect(await fitted(pool, almostStraight(pool), true, draw)).toBeNull();
  });

  it.each([
    [0, true],
    [1, false],
    [2, true],
    [3, false],
  ])(
    `of pool %s with ordinary bins is ${rule === 'growing' ? 'never' : 'always'} served, sale: %s`,
    async (n, zeroForOne) => {
      const pool = made.pools[n];
      if (pool === undefined) throw new Error('no such pool');
      for (const draw of [0, 1, 2, 3]) {
        const curve = await fitted(pool, ordinary(pool), zeroForOne, draw);
        expect(curve === null).toBe(rule === 'growing');
        if (curve && draw === 0) await expectOnChain(pool, curve);
      }
    },
  );
});

/**
 * A sale through a bin of a millionth that holds nearly all, and a longer one that holds little, at a price of 2^13.
 */
function almostStraight({ immutables }: PackedTestPool): PricedPool {
  const lengths = [1, 633, 11, 1, 1, 1, 1];
  const bins = lengths.map((lengthE6, index) => ({
    lengthE6,
    addFeeBuyE6: 0,
    addFeeSellE6: 0,
    token0Scaled: 0n,
    token1Scaled: index === 1 ? 1n << 69n : index === 3 ? 1n << 80n : 0n,
  }));
  const cursor = { bin: 0, position: 1n, lowerDistE6: 0 };
  const price = 1n << 77n;
  return pricePool(
    { ...immutables, pauseLevel: 0, cursor, spreadFeeE6: 0, notionalFeeE8: 0, bins },
    { bidX64: price, askX64: price, referenceX64: price },
  );
}

/** Fits a side of a pool that is asked for what the plan says. */
async function fitted(
  pool: PackedTestPool,
  priced: PricedPool,
  zeroForOne: boolean,
  draw: number,
): Promise<SideCurve | null> {
  return fitOnChain(packedChain, pool, { priced, zeroForOne, draw });
}

/** An input of each level gives its output or more, and a little less gives no more than a fit may be below. */
async function expectOnChain(pool: PackedTestPool, { levels, priced, zeroForOne }: SideCurve): Promise<void> {
  for (const { cumulativeInput, cumulativeOutput } of levels) {
    if (cumulativeInput === 0n) {
      expect(cumulativeOutput).toBe(0n);
      continue;
    }
    const less = cumulativeInput - 2n - cumulativeInput / 10n ** 12n;
    const probes = [cumulativeInput, ...(less > 0n ? [less] : [])].map((amountSpecified) => ({
      zeroForOne,
      amountSpecified,
    }));
    const [enough, tooLittle] = await simulate(packedChain, pool, priced, probes);
    // Some cores reject an input that buys less than a unit.
    expect(enough?.amountOut ?? 0n).toBeGreaterThanOrEqual(cumulativeOutput);
    if (tooLittle) expect(tooLittle.amountOut).toBeLessThanOrEqual(cumulativeOutput + tolerance(cumulativeOutput));
  }
}
