import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SellAndBuyPrices } from '../../curve.ts';
import { agreeingFormulas, judgeFormulas, LEAST_PROBES, type Probe } from './calibration/formulas.ts';
import { FEE_FORMULAS } from './candidates.ts';
import { formulaCurve } from './formula-curve.ts';
import type { PricedPool } from './ladder.ts';
import { filledSwap } from './searched-swaps.ts';
import { multipliers, type SideCurve, swapExactOutput } from './side-curve.ts';

/** Edges of a side that are tried beside its end, from the cursor on. */
const NEAR_EDGES = 3;

/**
 * Swaps that show whether a formula may stand in for a pool: exact outputs to the end of each side, which all bins have a
 * part in, and to the first edges, which cost little gas; and exact inputs into the middle of those bins, as many as there
 * are to be at all.
 *
 * @returns nothing when the pool has too few bins to tell
 */
export function trialProbes(priced: PricedPool): readonly Probe[] {
  const { bids, asks } = formulaCurve(priced, FEE_FORMULAS[0]);
  const [ofBids, ofAsks] = [probesOf(bids), probesOf(asks)];
  const edges = [...ofBids.edges, ...ofAsks.edges];
  const most = Math.max(ofBids.middles.length, ofAsks.middles.length);
  const probes = [...edges];
  for (let index = 0; index < most && (index === 0 || probes.length < LEAST_PROBES); index++) {
    probes.push(...ofBids.middles.slice(index, index + 1), ...ofAsks.middles.slice(index, index + 1));
  }
  return probes.length < LEAST_PROBES ? [] : probes;
}

/** Null when too many swaps were refused to tell; else the formulas that agree with all others and the prices. */
export function triedFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  probes: readonly Probe[],
  results: readonly CallResult[],
): readonly string[] | null {
  const answers = probes.flatMap((probe, index) => {
    const fill = filledSwap(probe, results[index]);
    return fill ? [{ ...probe, fill }] : [];
  });
  return answers.length < LEAST_PROBES ? null : agreeingFormulas(judgeFormulas(priced, prices, answers));
}

function probesOf(side: SideCurve): { readonly edges: readonly Probe[]; readonly middles: readonly Probe[] } {
  const { zeroForOne } = side;
  const [, multiplierOut] = multipliers(side);
  const filled = side.steps.filter(({ slice }) => slice.available >= multiplierOut);
  const chosen = filled.filter((_, index) => index < NEAR_EDGES || index === filled.length - 1);
  const edgeOf = (index: number) => {
    const step = chosen[index];
    return step ? (step.outputBefore + step.slice.available) / multiplierOut : 0n;
  };
  const middles = chosen.flatMap(({ slice }, index) => {
    const { amountIn } = swapExactOutput(side, edgeOf(index) - slice.available / multiplierOut / 2n);
    return amountIn > 0n ? [{ zeroForOne, amountSpecified: amountIn }] : [];
  });
  return { edges: chosen.map((_, index) => ({ zeroForOne, amountSpecified: -edgeOf(index) })), middles };
}
