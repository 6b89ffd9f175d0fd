import type { SellAndBuyPrices } from '../../../curve.ts';
import { type Hypothesis, judge, type Verdict } from '../../../verdict.ts';
import { FEE_FORMULAS } from '../candidates.ts';
import { curvePrices, formulaCurve } from '../formula-curve.ts';
import type { PricedPool } from '../ladder.ts';
import { levelAtInput, type SideCurve, type SwapAmounts, swapExactOutput } from '../side-curve.ts';

export type FormulaName = (typeof FEE_FORMULAS)[number]['name'];

/** A swap to simulate, raw units: positive = exact input, negative = exact output. */
export interface Probe {
  readonly zeroForOne: boolean;
  readonly amountSpecified: bigint;
}

/** What a pool took and gave for a probe. */
export interface AnsweredProbe extends Probe {
  readonly fill: SwapAmounts;
}

/** Swaps that a pool must have answered before a formula may stand in for it. */
export const LEAST_PROBES = 8;

/** Holds every formula against a pool's prices and its answers at one block and quote, to the last unit. */
export function judgeFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  answers: readonly AnsweredProbe[],
): Verdict<FormulaName> {
  const hypotheses = FEE_FORMULAS.map((formula): Hypothesis<FormulaName, SellAndBuyPrices | AnsweredProbe> => {
    const sides = formulaCurve(priced, formula);
    const computed = curvePrices(sides);
    return {
      name: formula.name,
      contradiction: (seen) =>
        'fill' in seen
          ? fillContradiction(seen.zeroForOne ? sides.bids : sides.asks, seen)
          : seen.sellX64 === computed.sellX64 && seen.buyX64 === computed.buyX64
            ? null
            : `prices ${seen.sellX64} and ${seen.buyX64}, by the formula ${computed.sellX64} and ${computed.buyX64}`,
    };
  });
  return judge(hypotheses, [prices, ...answers]);
}

/**
 * Formulas that may stand in for the pool. Several agree where they do not differ by a unit, as where no fee but one is
 * charged; each of them is as good then.
 */
export function agreeingFormulas({ observations, readings }: Verdict<FormulaName>): readonly FormulaName[] {
  if (observations <= LEAST_PROBES) return [];
  return readings.filter(({ contradicted }) => contradicted === 0).map(({ name }) => name);
}

function fillContradiction(side: SideCurve, { amountSpecified, fill }: AnsweredProbe): string | null {
  const { amountIn, amountOut } =
    amountSpecified < 0n ? swapExactOutput(side, -amountSpecified) : exactInput(side, amountSpecified);
  if (fill.amountIn === amountIn && fill.amountOut === amountOut) return null;
  return `${fill.amountIn} for ${fill.amountOut}, by the formula ${amountIn} for ${amountOut}`;
}

function exactInput(side: SideCurve, amount: bigint): SwapAmounts {
  const level = levelAtInput(side, amount);
  return { amountIn: level?.cumulativeInput ?? 0n, amountOut: level?.cumulativeOutput ?? 0n };
}
