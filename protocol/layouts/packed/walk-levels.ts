import type { DepthLevel } from '../../depth.ts';
import { distanceE6Floor, type SwapAmounts } from '../side-curve.ts';
import type { WalkedSide } from './walk-plan.ts';
import { type Stretch, stretchPrices } from './walk-prices.ts';

const NOTHING: SwapAmounts = { amountIn: 0n, amountOut: 0n };

/**
 * Levels of simulated pairs: one for each bin up to the first whose end was not reached, and one more inside that.
 *
 * @param pairs by the exact output at which a bin or the side ends, raw units
 * @param bestX64 the pool's own price
 */
export function walkedLevels(
  { bare, edges }: WalkedSide,
  pairs: ReadonlyMap<bigint, SwapAmounts>,
  bestX64: bigint,
): readonly DepthLevel[] {
  const last = [...pairs.keys()].reduce((most, output) => (output > most ? output : most), 0n);
  const stretches: Stretch[] = [];
  let from = NOTHING;
  for (const [index, step] of bare.steps.entries()) {
    const edge = edges[index] ?? 0n;
    const isWhole = edge <= last;
    const to = edge === 0n ? NOTHING : pairs.get(isWhole ? edge : last);
    if (!to || to.amountIn < from.amountIn || (!isWhole && to.amountOut <= from.amountOut)) break;
    stretches.push({ step, isWhole, from, to });
    if (!isWhole) break;
    from = to;
  }
  const prices = stretchPrices(bare, stretches, bestX64);
  return stretches.map(({ step, to }, index) => {
    const priceX64 = prices[index] ?? 0n;
    return {
      bin: step.slice.bin,
      priceX64,
      cumulativeOutput: to.amountOut,
      cumulativeInput: to.amountIn,
      priceImpactE6: distanceE6Floor(priceX64, bestX64),
    };
  });
}
