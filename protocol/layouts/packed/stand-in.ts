import type { SellAndBuyPrices } from '../../curve.ts';
import type { DepthLevel } from '../../depth.ts';
import { FEE_FORMULAS } from './candidates.ts';
import { curvePrices, formulaCurve, type Sides } from './formula-curve.ts';
import type { PricedPool } from './ladder.ts';

/** The formulas among these that give the pool's prices; and their sides, null unless they agree in every level. */
export function standIn(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  names: readonly string[],
): { readonly names: readonly string[]; readonly sides: Sides | null } {
  const holding = FEE_FORMULAS.filter(({ name }) => names.includes(name))
    .map((formula) => ({ name: formula.name, sides: formulaCurve(priced, formula) }))
    .filter(({ sides }) => isSamePrices(curvePrices(sides), prices));
  const [first, ...others] = holding.map(({ sides }) => sides);
  const agree = others.every((other) => first && isSameSides(first, other));
  return { names: holding.map(({ name }) => name), sides: first && agree ? first : null };
}

function isSamePrices(a: SellAndBuyPrices, b: SellAndBuyPrices): boolean {
  return a.sellX64 === b.sellX64 && a.buyX64 === b.buyX64;
}

function isSameSides(a: Sides, b: Sides): boolean {
  return isSameLevels(a.bids.levels, b.bids.levels) && isSameLevels(a.asks.levels, b.asks.levels);
}

function isSameLevels(a: readonly DepthLevel[], b: readonly DepthLevel[]): boolean {
  return (
    a.length === b.length &&
    a.every((level, index) => {
      const other = b[index];
      return (
        level.cumulativeInput === other?.cumulativeInput &&
        level.cumulativeOutput === other.cumulativeOutput &&
        level.priceX64 === other.priceX64
      );
    })
  );
}
