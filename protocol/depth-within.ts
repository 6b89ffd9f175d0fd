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
export function depthWithin(
  curve: PoolCurve,
  trading: TradingSides,
  { sellX64, buyX64 }: SellAndBuyPrices,
): DepthWithin {
  const [sum, half] = [sellX64 + buyX64, SUM_BPS / 2n];
  // The lowest and the highest whole price within a distance.
  const lowest = (bps: number) => divCeil(sum * (half - BigInt(bps)), SUM_BPS);
  const highest = (bps: number) => (sum * (half + BigInt(bps))) / SUM_BPS;
  return {
    bids: ofSide(curve.bids, trading.bids, DEPTH_BPS.map(lowest)),
    asks: ofSide(curve.asks, trading.asks, DEPTH_BPS.map(highest)),
  };
}

function ofSide(side: PoolSide, levels: ExecutableLevels, limits: readonly bigint[]): readonly bigint[] | null {
  const end = levels?.at(-1)?.cumulativeOutput ?? 0n;
  const outputs = limits.flatMap((limitX64) => side.outputWithin(limitX64) ?? []);
  return outputs.length === limits.length ? outputs.map((output) => minBigint(output, end)) : null;
}
