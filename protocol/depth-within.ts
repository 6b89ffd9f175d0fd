import type { PoolCurve, PoolSide, SellAndBuyPrices } from './curve.ts';
import type { ExecutableLevels, TradingSides } from './depth.ts';
import { divCeil, minBigint } from './fixed-point.ts';

/** Distances from the mid price for which history keeps depth, basis points. */
export const DEPTH_BPS = [10, 25, 50, 100] as const;

/** By side, an output for each of {@link DEPTH_BPS}, raw units; null where it is not known. */
export type DepthWithin = Readonly<Record<keyof PoolCurve, readonly bigint[] | null>>;

/** The sum of two prices, in basis points of their mean. */
const SUM_BPS = 20_000n;

/**
 * What each side pays out, as far as guards let it, while its price with fees is that near to the mean of both prices.
 */
export function depthWithin(curve: PoolCurve, trading: TradingSides, prices: SellAndBuyPrices): DepthWithin {
  const limits = DEPTH_BPS.map((bps) => pricesWithin(prices, bps));
  const ofSide = (side: keyof PoolCurve): readonly bigint[] | null => {
    const outputs = limits.flatMap((limit) => outputUntil(curve[side], trading[side], limit[side]) ?? []);
    return outputs.length === limits.length ? outputs : null;
  };
  return { bids: ofSide('bids'), asks: ofSide('asks') };
}

/** The lowest and the highest whole price within a distance from the mean of both prices, Q64.64. */
export function pricesWithin({ sellX64, buyX64 }: SellAndBuyPrices, bps: number): Record<keyof PoolCurve, bigint> {
  const [sum, half, distance] = [sellX64 + buyX64, SUM_BPS / 2n, BigInt(bps)];
  return { bids: divCeil(sum * (half - distance), SUM_BPS), asks: (sum * (half + distance)) / SUM_BPS };
}

/**
 * What a side pays out, as far as guards let it, until its price with fees is beyond a limit (Q64.64), raw units; null
 * where the curve is not known between its levels.
 */
export function outputUntil(side: PoolSide, levels: ExecutableLevels, limitX64: bigint): bigint | null {
  const output = side.outputWithin(limitX64);
  return output === null ? null : minBigint(output, levels?.at(-1)?.cumulativeOutput ?? 0n);
}
