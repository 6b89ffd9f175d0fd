import type { SellAndBuyPrices } from '../../curve.ts';
import type { PricedPool } from './ladder.ts';
import { type SideCurve, sideCurve } from './side-curve.ts';
import { type FeeFormula, formulaFees } from './side-fees.ts';

/** Both sides of a pool, each listing every bin from the current one to the pool's last in that direction. */
export interface Sides {
  readonly bids: SideCurve;
  readonly asks: SideCurve;
}

/** The curve of a pool if its fees combine by this formula. */
export function formulaCurve(priced: PricedPool, formula: FeeFormula): Sides {
  const side = (zeroForOne: boolean) =>
    sideCurve(priced, zeroForOne, formulaFees(formula, priced.state, priced.quote, zeroForOne));
  return { bids: side(true), asks: side(false) };
}

/** The prices at the cursor that `getSellAndBuyPrices` gives if the curve is right. */
export function curvePrices({ bids, asks }: Sides): SellAndBuyPrices {
  return { sellX64: bids.bestX64, buyX64: asks.bestX64 };
}
