import type { DepthLevel, Quote } from './api.ts';
import { priceOfX64 } from './quantities.ts';

/** The sum of one side of the order book up to a price. */
export type DepthPoint = {
  /** token1 per token0. */
  readonly price: number;
  /** token0 that can be sold or bought up to the price, whole tokens; `volume1` is the token1 for it. */
  readonly volume0: number;
  readonly volume1: number;
  /** Distance from the best price, as a fraction. */
  readonly impact: number;
};

/** Both sides from the best price outward. Each begins with the best price and no volume; a closed side is empty. */
export type DepthSides = { readonly bids: readonly DepthPoint[]; readonly asks: readonly DepthPoint[] };

/** Gives both sides of a quote, for show. @param decimals of both tokens */
export function depthSides(quote: Quote, decimals: readonly [number, number]): DepthSides {
  const { bids = [], asks = [] } = quote.depth ?? {};
  return {
    bids: sideOf(priceOfX64(quote.bidAdj), bids, (level) => ({
      volume0: whole(level.cumulativeInputVolume, decimals[0]),
      volume1: whole(level.cumulativeVolume, decimals[1]),
    })),
    asks: sideOf(priceOfX64(quote.askAdj), asks, (level) => ({
      volume0: whole(level.cumulativeVolume, decimals[0]),
      volume1: whole(level.cumulativeInputVolume, decimals[1]),
    })),
  };
}

type Volumes = Pick<DepthPoint, 'volume0' | 'volume1'>;

/** Gives the points of one side. Levels that add nothing are left out, as the contract says. */
function sideOf(
  best: number | null,
  levels: readonly DepthLevel[],
  volumesOf: (level: DepthLevel) => Volumes,
): DepthPoint[] {
  if (best === null) return [];
  const points: DepthPoint[] = [{ price: best, volume0: 0, volume1: 0, impact: 0 }];
  let before = 0n;
  for (const level of levels) {
    const cumulative = BigInt(level.cumulativeVolume);
    if (cumulative <= before) continue;
    before = cumulative;
    const price = Number(BigInt(level.price)) / 2 ** 64;
    points.push({ price, ...volumesOf(level), impact: Number(level.priceImpactE6) / 1e6 });
  }
  return points;
}

/** Gives a number of whole tokens, for show. */
const whole = (raw: string, decimals: number): number => Number(BigInt(raw)) / 10 ** decimals;
