import fc from 'fast-check';
import { type Hex, numberToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { calibrationChain } from '../../capture/calibration/calibrate-factory.ts';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { extsload } from '../../devnet/actions.ts';
import type { Anvil } from '../../devnet/anvil.ts';
import {
  createPackedPool,
  type PackedPool,
  type PackedSetup,
  packedRecipe,
  startPackedSetup,
} from '../../devnet/packed/random-pool.fixture.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import type { CalibrationPool, Finding } from '../../protocol/calibration.ts';
import { evaluateWords } from '../../protocol/layouts/packed/calibration/evaluate-words.ts';
import { type ObservedSwap, swapFlow } from '../../protocol/layouts/packed/calibration/observe-swaps.ts';
import { packedStoredLayout } from '../../protocol/layouts/packed/stored-layout.ts';
import { HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import type { Halves } from '../../protocol/pool-events.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { openWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { observeSwaps, observeSwapsOf, ordinaryRecipe } from './observed-swaps.ts';

describe.each(PACKED_VARIANTS)('swaps of the variant $rule', (variant) => {
  const { details, fees } = variant;
  const notional = variant.rule === 'older' ? 'unspecified' : 'input';
  const truth: Record<string, string> = { details, fees, platformFees: variant.platformFees, notional };
  const observed = openWorld(async (ends) => {
    const setup = ends.adopt(await startPackedSetup(variant), ({ anvil }) => anvil.stop());
    const pool = await createPackedPool(setup, ordinaryRecipe(6, 18));
    const beforeSwaps = await calibrate(setup, [pool]);
    return { setup, pools: [pool], beforeSwaps, swaps: await observeSwapsOf(setup, pool, 12) };
  });

  it('decide how its words are to be read', () => {
    expect(observed.swaps.length).toBe(12);
    expect(decisions(evaluateWords(observed.swaps))).toEqual(truth);
  });

  it('are found on the chain, which then shows the arrangement of its factory, and before them does not', async () => {
    const found = await calibrate(observed.setup, observed.pools);
    expect(decisions(found)).toEqual({ storage: 'packedHead', ...truth });
    expect(decisions(observed.beforeSwaps)).toEqual({ storage: 'packedHead', ...UNDECIDED });
    expect(found.map(({ what }) => what)).toEqual(packedStoredLayout.calibrated);
    // The test's own swaps in blocks of their own, and no more than were asked for.
    expect(found.find(({ what }) => what === 'details')?.observations).toBe(12);
    expect(
      (await calibrate(observed.setup, observed.pools, 7)).find(({ what }) => what === 'details')?.observations,
    ).toBe(7);
  });

  it('contradict the other interpretations, with examples, and never the right ones', () => {
    for (const { what, interpretations } of evaluateWords(observed.swaps)) {
      for (const { name, contradicted, agreed, examples } of interpretations) {
        expect(contradicted + agreed).toBe(12);
        expect(contradicted === 0).toBe(name === truth[what]);
        expect(examples.length).toBe(Math.min(contradicted, 3));
      }
    }
  });

  it('leave it open as long as they are few, and where a word means something else', () => {
    expect(decisions(evaluateWords([]))).toEqual(UNDECIDED);
    expect(decisions(evaluateWords(observed.swaps.slice(0, 4)))).toEqual(UNDECIDED);
    expect(decisions(evaluateWords(observed.swaps.map(foreign)))).toEqual(UNDECIDED);
  });

  it('make sums of words to fees: with what traders paid to bins before fees, they are all that came in', () => {
    const interpretations = { fees, platformFees: variant.platformFees, notional };
    const kept = packedStoredLayout.lpFeesScaled(interpretations, binFeeTotals(observed.swaps));
    const left = packedStoredLayout.platformFeesScaled(interpretations, platformFeeTotals(observed.swaps));
    const flows = observed.swaps.map(swapFlow);
    const taken = (sale: boolean) =>
      flows.reduce(
        (sum, { zeroForOne, platformInput, notionalOut }) => sum + (zeroForOne === sale ? platformInput : notionalOut),
        0n,
      );
    // Of the token that comes in the pool takes whole raw units: what is above its due belongs to no fee.
    const slack = 10n ** 12n * BigInt(flows.length);
    expect(left?.[0]).toBeLessThanOrEqual(taken(true));
    expect(left?.[0]).toBeGreaterThan(taken(true) - slack);
    expect(left?.[1]).toBe(taken(false));
    // The platform's part of a spread is 35% of it; LPs keep the rest.
    for (const [token, sale] of [
      [0, true],
      [1, false],
    ] as const) {
      const accrued = flows.reduce(
        (sum, flow) => sum + (flow.zeroForOne === sale ? flow.notionalIn : flow.notionalOut),
        0n,
      );
      const spread = (left?.[token] ?? 0n) - accrued;
      const expected = (spread * 65n) / 35n;
      expect(kept?.[token]).toBeGreaterThan(0n);
      expect(distance(kept?.[token] ?? 0n, expected)).toBeLessThan(1_000n);
    }
  });

  it('of random pools never contradict the right reading', async () => {
    const property = fc.asyncProperty(packedRecipe, async (recipe) => {
      for (const { what, decided, interpretations } of evaluateWords(await observeSwaps(observed.setup, recipe, 5))) {
        expect(interpretations.find(({ name }) => name === truth[what])).toMatchObject({ contradicted: 0 });
        if (decided !== null) expect(decided).toBe(truth[what]);
      }
    });
    await fc.assert(property, { numRuns: runs(2) });
  });
});

describe('pools of two tokens with the internal decimals', () => {
  it('report all of the words', async () => {
    const [variant] = PACKED_VARIANTS;
    if (variant === undefined) throw new Error('no variant');
    const setup = await startPackedSetup(variant);
    try {
      const verdicts = evaluateWords(await observeSwaps(setup, ordinaryRecipe(18, 18), 8));
      expect(decisions(verdicts)).toEqual({
        details: variant.details,
        fees: variant.fees,
        platformFees: variant.platformFees,
        notional: 'unspecified',
      });
    } finally {
      await setup.anvil.stop();
    }
  });
});

describe('storage that no arrangement explains', () => {
  it('is reported, and no word is compared with it', async () => {
    const [variant] = PACKED_VARIANTS;
    if (variant === undefined) throw new Error('no variant');
    const setup = await startPackedSetup(variant);
    try {
      const pool = await createPackedPool(setup, ordinaryRecipe(6, 18));
      await observeSwapsOf(setup, pool, 6);
      const [head, totals] = await extsload(setup.chain, pool.address, HEAD_SLOTS);
      if (!head || !totals) throw new Error('no storage');
      const put = (index: number, value: Hex) =>
        setup.chain.client.setStorageAt({ address: pool.address, index, value });
      await put(1, numberToHex(BigInt(totals) + 1n, { size: 32 }));
      const found = await calibrate(setup, [pool]);
      expect(decisions(found)).toEqual({ storage: 'none', ...UNDECIDED });
      expect(found[0]?.interpretations[0]?.examples[0]).toContain(pool.address);
      await put(1, totals);
      // A cursor outside of the pool.
      await put(0, numberToHex(BigInt(head) ^ (1n << 20n), { size: 32 }));
      expect(decisions(await calibrate(setup, [pool])).storage).toBe('none');
    } finally {
      await setup.anvil.stop();
    }
  });
});

const UNDECIDED = { details: null, fees: null, platformFees: null, notional: null };

const decisions = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ what, decided }) => [what, decided]));

/** What the chain itself reports of pools. */
function calibrate(
  { anvil, deployment }: PackedSetup & { readonly anvil: Anvil },
  pools: readonly PackedPool[],
  swaps = 20,
) {
  const rpc = openChainRpc({ chainId: 31_337, rpcUrls: [anvil.url] }, 10_000);
  return packedStoredLayout.calibrate(calibrationChain({ rpc, chainId: 31_337 }), {
    pools: pools.map(calibrated),
    lens: deployment.dataProvider,
    swaps,
  });
}

function calibrated({ address, provider, recipe: { bins, decimals0, decimals1 } }: PackedPool): CalibrationPool {
  const numbers = bins.map(({ bin }) => bin);
  const [lowestBin, highestBin] = [Math.min(...numbers), Math.max(...numbers)];
  return { address, priceProvider: provider, scale: tokenScale(decimals0, decimals1), lowestBin, highestBin };
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);

/** Halves of a word of all swaps in a direction, as an index would sum them up. */
const sumOf = (swaps: readonly ObservedSwap[], sale: boolean, words: (observed: ObservedSwap) => readonly Halves[]) =>
  swaps
    .filter(({ swap }) => swap.amount0Delta > 0n === sale)
    .flatMap(words)
    .reduce((total, { high, low }) => ({ high: total.high + high, low: total.low + low }), { high: 0n, low: 0n });

function binFeeTotals(swaps: readonly ObservedSwap[]) {
  const [sales, purchases] = [true, false].map((sale) =>
    sumOf(swaps, sale, ({ bins }) => bins.map(({ fees }) => fees)),
  );
  return {
    saleBinFeesHigh: sales?.high ?? 0n,
    saleBinFeesLow: sales?.low ?? 0n,
    purchaseBinFeesHigh: purchases?.high ?? 0n,
    purchaseBinFeesLow: purchases?.low ?? 0n,
  };
}

function platformFeeTotals(swaps: readonly ObservedSwap[]) {
  const [sales, purchases] = [true, false].map((sale) => sumOf(swaps, sale, ({ swap }) => [swap.platformFees]));
  return {
    salePlatformFeesHigh: sales?.high ?? 0n,
    salePlatformFeesLow: sales?.low ?? 0n,
    purchasePlatformFeesHigh: purchases?.high ?? 0n,
    purchasePlatformFeesLow: purchases?.low ?? 0n,
  };
}

/** The same swap as a pool would tell it whose words none of the interpretations explains. */
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
