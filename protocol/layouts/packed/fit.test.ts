import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SwapAmounts } from '../../curve.ts';
import { E8 } from '../../fixed-point.ts';
import type { PoolImmutables, PoolState } from '../../pool-state.ts';
import { tokenScale } from '../../scaling.ts';
import { pricePool } from '../ladder.ts';
import { levelAtInput, swapExactOutput } from '../side-amounts.ts';
import { type SideCurve, sideCurve } from '../side-curve.ts';
import { agreesWithPrice, fitSide } from './fit.ts';
import { furtherProbes, planFit } from './fit-plan.ts';
import { FEE_FORMULAS, formulaCurve, formulaFees } from './formulas.ts';
import { immutables, poolStateOf, quoteUpTo } from './pool-state.fixture.ts';

/** Bins that hold dozens of tokens, or nothing. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };
const decimals = fc.constantFrom(6, 8, 18);
const Q64 = 1n << 64n;

/** Bins of as many fees as a fit takes. */
const hasFewBins = ({ lowestBin, highestBin }: PoolImmutables) => highestBin - lowestBin < 8;

/** A side that charges by a formula, which the fit does not know. */
const side: fc.Arbitrary<SideCurve> = fc
  .tuple(
    fc
      .tuple(immutables.filter(hasFewBins), decimals, decimals)
      .chain(([pool, decimals0, decimals1]) =>
        poolStateOf({ ...pool, scale: tokenScale(decimals0, decimals1) }, AMPLE),
      ),
    quoteUpTo(15),
    fc.constantFrom(...FEE_FORMULAS),
    fc.boolean(),
  )
  .map(([state, quote, formula, zeroForOne]) => {
    const { bids, asks } = formulaCurve(pricePool(state, quote), formula);
    return zeroForOne ? bids : asks;
  });

describe('a fit', () => {
  it('has the outputs of the side, and its inputs or a little more, from three swaps where all bins charge alike, one more where the pool keeps output', () => {
    fc.assert(
      fc.property(side, fc.nat(), (curve, draw) => {
        const { plan, fills, fit } = fitted(curve, draw);
        const edges = plan.runs.reduce((sum, { steps }) => sum + steps.length - 1, 0);
        const whole = plan.runs.at(-1)?.outputRaw ?? 0n;
        const isShown = whole * BigInt(curve.priced.state.notionalFeeE8) >= 2n * E8;
        const isProved = whole > (curve.levels.at(-1)?.cumulativeOutput ?? 0n);
        const least = plan.runs.length === 0 ? 0 : 2 * plan.runs.length + 1;
        expect(plan.probes.length).toBeGreaterThanOrEqual(least);
        expect(plan.probes.length).toBeLessThanOrEqual(least + edges);
        if (isProved || isShown) expect(fills.length - plan.probes.length).toBe(isProved ? 1 : 0);
        expect(fit?.bestX64).toBe(curve.bestX64);
        curve.levels.forEach(({ cumulativeInput, cumulativeOutput }, index) => {
          const level = fit?.levels[index];
          expect(level?.cumulativeOutput).toBe(cumulativeOutput);
          expect(level?.cumulativeInput).toBeGreaterThanOrEqual(cumulativeInput);
          const most = cumulativeInput + 2n + cumulativeInput / 10n ** 12n;
          expect(level?.cumulativeInput).toBeLessThanOrEqual(most);
        });
      }),
    );
  });

  it("has the pool's own price at the cursor, and shows when it is that of another quote", () => {
    fc.assert(
      fc.property(side, fc.nat(), (curve, draw) => {
        const { fit } = fitted(curve, draw);
        if (!fit) return;
        expect(agreesWithPrice(fit)).toBe(true);
        const [first] = fit.levels;
        // Where raw units, or those of the price, do not show a hundredth.
        const isFine = first && [first.cumulativeOutput, first.cumulativeInput, fit.bestX64].every((x) => x >= 1_000n);
        if (!isFine) return;
        for (const partE2 of [99n, 101n]) {
          expect(agreesWithPrice({ ...fit, bestX64: (fit.bestX64 * partE2) / 100n })).toBe(false);
        }
      }),
    );
  });

  it('finds a fee on the whole that is not the notional fee', () => {
    fc.assert(
      fc.property(side, fc.nat(), fc.integer({ min: 1, max: 3_000_000 }), ({ priced, zeroForOne }, draw, endFeeE8) => {
        const fees = { ...formulaFees(FEE_FORMULAS[0], priced.state, priced.quote, zeroForOne), endFeeE8 };
        const curve = sideCurve(priced, zeroForOne, fees);
        // Where a raw unit is worth less than the fee's own unit.
        if ((curve.levels.at(-1)?.cumulativeOutput ?? 0n) < 10n ** 9n) return;
        const { fit } = fitted(curve, draw);
        curve.levels.forEach(({ cumulativeInput, cumulativeOutput }, index) => {
          const level = fit?.levels[index];
          expect(level?.cumulativeOutput).toBe(cumulativeOutput);
          expect(level?.cumulativeInput).toBeGreaterThanOrEqual(cumulativeInput);
        });
      }),
    );
  });

  it('is none when the pool refuses a swap, or answers one with what no factor explains', () => {
    fc.assert(
      fc.property(side, fc.nat(), fc.nat(), (curve, draw, pick) => {
        const { plan, fills } = fitted(curve, draw);
        if (fills.length === 0) return;
        const changed = (index: number, change: (fill: SwapAmounts) => SwapAmounts | null) => {
          const answered = fills.map((fill, at) => (at === index ? change(fill) : fill));
          return fitSide(plan, answered, curve.bestX64);
        };
        expect(changed(pick % fills.length, () => null)).toBeNull();
        // A percent more, where a raw unit of the input is worth less.
        if (fills.some(({ amountIn }) => amountIn < 10n ** 9n)) return;
        const more = (amount: bigint) => amount + amount / 100n + 10n;
        const at = pick % fills.length;
        expect(changed(at, (fill) => ({ ...fill, amountOut: more(fill.amountOut) }))).toBeNull();
        expect(changed(at, (fill) => ({ ...fill, amountIn: more(fill.amountIn) }))).toBeNull();
        const { cumulativeInput = 0n, cumulativeOutput = 0n } = curve.levels.at(-1) ?? {};
        const emptied = { amountIn: more(cumulativeInput), amountOut: cumulativeOutput };
        expect(changed(plan.probes.length - 1, () => emptied)).toBeNull();
      }),
    );
  });
});

describe('a side', () => {
  it('without liquidity needs no swap, and has its bins', () => {
    const plan = planFit(pricePool(stateOf([0n, 0n, 0n]), QUOTE), false, 0);
    expect(plan.probes).toEqual([]);
    expect(plan && fitSide(plan, [], Q64)?.levels).toMatchObject(
      [0, 1, 2].map((bin) => ({ bin, cumulativeInput: 0n, cumulativeOutput: 0n })),
    );
  });

  it('is measured in the bin in which its last whole raw unit lies', () => {
    // The last bin holds less than a raw unit, far off in price.
    const state = stateOf([10n ** 20n, 10n ** 20n + 10n ** 11n, 10n ** 10n]);
    const [near, next, last] = state.bins;
    if (!near || !next || !last) throw new Error('three bins');
    const priced = pricePool({ ...state, bins: [near, next, { ...last, lengthE6: 60_000 }] }, QUOTE);
    const curve = formulaCurve(priced, FEE_FORMULAS[3]).asks;
    const { fit } = fitted(curve, 0);
    curve.levels.forEach(({ cumulativeInput }, index) => {
      const shown = fit?.levels[index]?.cumulativeInput ?? 0n;
      expect(shown).toBeGreaterThanOrEqual(cumulativeInput);
      expect(shown).toBeLessThanOrEqual(cumulativeInput + 2n + cumulativeInput / 10n ** 12n);
    });
  });

  it('is fitted where a proof shows two raw units more, as the inputs at both ends of its run were rounded up', () => {
    const tokens = 10n ** 22n;
    for (let more = 160n; more < 240n; more++) {
      const contents = [tokens + more * 7_777_777_777n, tokens + more * 3_333_333_333n];
      const state = {
        ...stateOf(contents, (index) => index),
        scale: { multiplier0: 10n ** 10n, multiplier1: 10n ** 10n },
      };
      const { fit } = fitted(formulaCurve(pricePool(state, QUOTE), FEE_FORMULAS[3]).asks, 900);
      expect(fit).not.toBeNull();
    }
  });

  it('is not fitted where whole raw units are too coarse for it, or too many fees follow each other', () => {
    const tokens = 10n ** 20n;
    const plan = (contents: readonly bigint[], fees?: (index: number) => number) =>
      planFit(pricePool(stateOf(contents, fees), QUOTE), false, 0).isFittable;
    expect(plan([tokens, tokens])).toBe(true);
    // Less than a raw unit of token0, between bins of another fee; then one that costs a few units of token1.
    expect(plan([tokens, 10n ** 11n, tokens], (index) => index % 2)).toBe(false);
    expect(plan([10n, tokens])).toBe(false);
    expect(plan(new Array(8).fill(tokens), (index) => index)).toBe(true);
    expect(plan(new Array(9).fill(tokens), (index) => index)).toBe(false);
  });
});

const QUOTE = { bidX64: Q64, askX64: Q64 + Q64 / 1_000n, referenceX64: Q64 };

/** Bins from the cursor up, with token0 of 6 decimals and token1 of 18. */
function stateOf(contents: readonly bigint[], feeOf: (index: number) => number = () => 0): PoolState {
  return {
    lowestBin: 0,
    highestBin: contents.length - 1,
    pauseLevel: 0,
    spreadFeeE6: 0,
    notionalFeeE8: 500,
    scale: { multiplier0: 10n ** 12n, multiplier1: 1n },
    cursor: { bin: 0, position: 0n, lowerDistE6: 0 },
    bins: contents.map((token0Scaled, index) => ({
      token0Scaled,
      token1Scaled: 0n,
      lengthE6: 1_000,
      addFeeBuyE6: feeOf(index),
      addFeeSellE6: 0,
    })),
  };
}

function fitted(curve: SideCurve, draw: number) {
  const plan = planFit(curve.priced, curve.zeroForOne, draw);
  if (plan === null) throw new Error('no plan');
  const first = answers(curve, plan.probes);
  const fills = [...first, ...answers(curve, furtherProbes(plan, first))];
  return { plan, fills, fit: fitSide(plan, fills, curve.bestX64) };
}

/** What a pool of this curve answers to swaps, exact outputs negative. */
function answers(curve: SideCurve, amounts: readonly bigint[]): readonly SwapAmounts[] {
  return amounts.map((amount) => {
    if (amount < 0n) return swapExactOutput(curve, -amount);
    const level = levelAtInput(curve, amount);
    return { amountIn: level?.cumulativeInput ?? 0n, amountOut: level?.cumulativeOutput ?? 0n };
  });
}
