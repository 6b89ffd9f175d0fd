import type { TradeType } from '../protocol/routing/fill-curve.ts';
import { capacity, fillCurve, foundAt, levelAt } from '../protocol/routing/fill-curve.ts';
import type { Quote } from './api.ts';

/**
 * What follows from the amount that is fixed, raw units,
 * and the price impact at the far edge of the last bin, millionths.
 */
export type Fill = { readonly computed: bigint; readonly impactE6: number };

/**
 * Fills an order in one pool as a route of this pool alone does.
 *
 * @param given raw units: of the input for `exact_in`, else of the output
 * @returns null when the pool is not deep enough, or its depth is not known
 */
export function fillOf(quote: Quote | null, zeroForOne: boolean, tradeType: TradeType, given: bigint): Fill | null {
  const side = (zeroForOne ? quote?.depth?.bids : quote?.depth?.asks) ?? [];
  const levels = side.map(({ cumulativeInputVolume, cumulativeVolume }) => ({
    cumulativeInput: BigInt(cumulativeInputVolume),
    cumulativeOutput: BigInt(cumulativeVolume),
  }));
  const curve = fillCurve(levels, tradeType);
  if (given > capacity(curve)) return null;
  return { computed: foundAt(curve, given), impactE6: Number(side[levelAt(curve, given)]?.priceImpactE6) };
}
