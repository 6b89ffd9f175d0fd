import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PackedGround, packedRecipe, startPackedGround } from '../../devnet/packed/random-pool.fixture.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import type { Anvil } from '../../devnet/services/anvil.ts';
import { type ObservedSwap, swapFlow } from '../../protocol/layouts/packed/calibration/observed-swap.ts';
import { judgeWords, type WordReadings } from '../../protocol/layouts/packed/calibration/word-readings.ts';
import { lpFees, platformFees } from '../../protocol/layouts/packed/fee-totals.ts';
import type { Halves } from '../../protocol/pool-events.ts';
import { observeSwaps, ordinaryRecipe } from './observed-swaps.ts';

describe.each(PACKED_VARIANTS)('swaps of the variant $rule', (variant) => {
  const { details, deltaScale, fees } = variant;
  const notional = variant.rule === 'older' ? 'unspecified' : 'input';
  const truth = { details, deltaScale, fees, platformFees: variant.platformFees, notional };
  let ground: PackedGround & { readonly anvil: Anvil };
  let swaps: readonly ObservedSwap[];

  beforeAll(async () => {
    ground = await startPackedGround(variant);
    swaps = await observeSwaps(ground, ordinaryRecipe(6, 18), 12);
  });

  afterAll(() => ground?.anvil.stop());

  it('decide how its words are to be read', () => {
    expect(swaps.length).toBe(12);
    expect(decided(judgeWords(swaps))).toEqual(truth);
  });

  it('contradict the other readings, with examples, and never the right ones', () => {
    const verdicts = judgeWords(swaps);
    for (const key of KEYS) {
      for (const { name, contradicted, agreed, examples } of verdicts[key].readings) {
        expect(contradicted + agreed).toBe(12);
        expect(contradicted === 0).toBe(name === truth[key]);
        expect(examples.length).toBe(Math.min(contradicted, 3));
      }
    }
  });

  it('leave it open as long as they are few, and where a word means something else', () => {
    expect(decided(judgeWords([]))).toEqual(UNDECIDED);
    expect(decided(judgeWords(swaps.slice(0, 4)))).toEqual(UNDECIDED);
    expect(decided(judgeWords(swaps.map(foreign)))).toEqual(UNDECIDED);
  });

  it('make sums of words to fees: with what traders paid to bins before fees, they are all that came in', () => {
    const sums = sumsByDirection(swaps);
    const kept = lpFees(fees, sums.fees);
    const left = platformFees(variant.platformFees, notional, sums.platformFees);
    const flows = swaps.flatMap((observed) => swapFlow(observed) ?? []);
    const taken = (sale: boolean) =>
      flows.reduce(
        (sum, { zeroForOne, platformInput, notionalOut }) => sum + (zeroForOne === sale ? platformInput : notionalOut),
        0n,
      );
    // Of the token that comes in the pool takes whole raw units: what is above its due belongs to no fee.
    const slack = 10n ** 12n * BigInt(flows.length);
    expect(left?.token0Scaled).toBeLessThanOrEqual(taken(true));
    expect(left?.token0Scaled).toBeGreaterThan(taken(true) - slack);
    expect(left?.token1Scaled).toBe(taken(false));
    // The platform's part of a spread is 35% of it; LPs keep the rest.
    for (const [token, sale] of [
      ['token0Scaled', true],
      ['token1Scaled', false],
    ] as const) {
      const accrued = flows.reduce(
        (sum, flow) => sum + (flow.zeroForOne === sale ? flow.notionalIn : flow.notionalOut),
        0n,
      );
      const spread = (left?.[token] ?? 0n) - accrued;
      const expected = (spread * 65n) / 35n;
      expect(kept[token]).toBeGreaterThan(0n);
      expect(distance(kept[token], expected)).toBeLessThan(1_000n);
    }
  });

  it('of random pools never contradict the right reading', async () => {
    const property = fc.asyncProperty(packedRecipe, async (recipe) => {
      const verdicts = judgeWords(await observeSwaps(ground, recipe, 5));
      for (const key of KEYS) {
        const right = verdicts[key].readings.find(({ name }) => name === truth[key]);
        expect(right).toMatchObject({ contradicted: 0 });
        if (verdicts[key].decided !== null) expect(verdicts[key].decided).toBe(truth[key]);
      }
    });
    await fc.assert(property, { numRuns: 5 });
  });
});

describe('pools of two tokens with the internal decimals', () => {
  it('tell nothing of the scale of deltas, and all of the rest', async () => {
    const [variant] = PACKED_VARIANTS;
    if (variant === undefined) throw new Error('no variant');
    const ground = await startPackedGround(variant);
    try {
      const verdicts = judgeWords(await observeSwaps(ground, ordinaryRecipe(18, 18), 8));
      expect(decided(verdicts)).toEqual({
        details: variant.details,
        deltaScale: null,
        fees: variant.fees,
        platformFees: variant.platformFees,
        notional: 'unspecified',
      });
      expect(verdicts.deltaScale.decisive).toBe(0);
    } finally {
      await ground.anvil.stop();
    }
  });
});

const KEYS = ['details', 'deltaScale', 'fees', 'platformFees', 'notional'] as const;
const UNDECIDED = { details: null, deltaScale: null, fees: null, platformFees: null, notional: null };

function decided(verdicts: WordReadings) {
  return Object.fromEntries(KEYS.map((key) => [key, verdicts[key].decided]));
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);

/** Both words of all swaps, as an index would sum them up. */
function sumsByDirection(swaps: readonly ObservedSwap[]) {
  const sum = (words: (observed: ObservedSwap) => readonly Halves[], sale: boolean): Halves =>
    swaps
      .filter(({ swap }) => swap.amount0Delta > 0n === sale)
      .flatMap(words)
      .reduce((total, { high, low }) => ({ high: total.high + high, low: total.low + low }), { high: 0n, low: 0n });
  const both = (words: (observed: ObservedSwap) => readonly Halves[]) => ({
    sales: sum(words, true),
    purchases: sum(words, false),
  });
  return {
    fees: both(({ bins }) => bins.map(({ fees }) => fees)),
    platformFees: both(({ swap }) => [swap.platformFees]),
  };
}

/** The same swap as a pool would tell it whose words none of the readings explains. */
function foreign(observed: ObservedSwap): ObservedSwap {
  const { swap, bins } = observed;
  const platformFees = { high: swap.platformFees.high + 10n ** 18n, low: swap.platformFees.low + 10n ** 18n };
  return {
    ...observed,
    swap: { ...swap, details: swap.details << 40n, platformFees },
    bins: bins.map((bin) => ({
      ...bin,
      delta0: bin.delta0 * 2n + 1n,
      delta1: bin.delta1 * 2n + 1n,
      fees: { high: bin.fees.high + 10n ** 18n, low: bin.fees.low + 10n ** 18n },
    })),
  };
}
