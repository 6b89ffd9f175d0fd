import { type BinEdges, priceAtFloor } from '../../bin-price.ts';
import type { SellAndBuyPrices } from '../../curve.ts';
import { divCeil, E6, E8, isqrtFloor, mulDivFloor, Q64, shiftRightCeil } from '../../fixed-point.ts';
import { type BinState, binAt, type PoolState } from '../../pool-state.ts';
import type { ProviderQuote } from './provider-quote.ts';

/** What a provider's quote means for a pool: the price that its bins are laid around, and the fee of every swap. */
export interface PriceFrame {
  /** Q64.64 */
  readonly midX64: bigint;
  /** Fee over the marginal price, Q64.64: 2^64 = 100%. */
  readonly baseFeeX64: bigint;
}

/** A pool accepts a quote whose bid is positive and below its ask. */
export function isTradableQuote({ bidX64, askX64 }: ProviderQuote): boolean {
  return bidX64 > 0n && bidX64 < askX64;
}

/** The frame of a tradable quote. Throws a RangeError for any other: the pool would refuse it. */
export function priceFrame(quote: ProviderQuote): PriceFrame {
  if (!isTradableQuote(quote)) throw new RangeError('the quote needs 0 < bid < ask');
  const midX64 = isqrtFloor(quote.bidX64 * quote.askX64);
  return { midX64, baseFeeX64: divCeil(quote.askX64 * Q64, midX64) - Q64 };
}

/** Price at a signed distance (millionths) from mid. Zero at or below -1e6, where a pool has no price. */
export function edgePriceFloor(midX64: bigint, distE6: number): bigint {
  return distE6 <= -1e6 ? 0n : mulDivFloor(midX64, BigInt(1_000_000 + distE6), E6);
}

/**
 * Signed distances (millionths) of bin edges from mid: entry i is the lower edge of the bin at index i of `state.bins`;
 * one more entry gives the upper edge of the highest bin.
 */
export function edgeDistancesE6(state: PoolState): number[] {
  const cursorIndex = state.cursor.bin - state.lowestBin;
  const distances = new Array<number>(state.bins.length + 1).fill(0);
  let upper = state.cursor.lowerDistE6;
  distances[cursorIndex] = upper;
  state.bins.slice(cursorIndex).forEach((bin, offset) => {
    upper += bin.lengthE6;
    distances[cursorIndex + offset + 1] = upper;
  });
  let lower = state.cursor.lowerDistE6;
  for (const [offset, bin] of state.bins.slice(0, cursorIndex).reverse().entries()) {
    lower -= bin.lengthE6;
    distances[cursorIndex - offset - 1] = lower;
  }
  return distances;
}

/** A pool with its bins laid around a price: all that the curve needs. */
export interface PricedPool {
  readonly state: PoolState;
  readonly frame: PriceFrame;
  /** Price of every bin edge, Q64.64, as `edgeDistancesE6` orders them. */
  readonly edgesX64: readonly bigint[];
}

/** Lays a pool's bins around a quote. Same errors as `priceFrame`. */
export function pricePool(state: PoolState, quote: ProviderQuote): PricedPool {
  const frame = priceFrame(quote);
  return { state, frame, edgesX64: edgeDistancesE6(state).map((distE6) => edgePriceFloor(frame.midX64, distE6)) };
}

/** Prices at the edges of a bin. Throws a RangeError for a bin that the pool does not have. */
export function binEdges({ state, edgesX64 }: PricedPool, bin: number): BinEdges {
  const lowerX64 = edgesX64[bin - state.lowestBin];
  const upperX64 = edgesX64[bin - state.lowestBin + 1];
  if (lowerX64 === undefined || upperX64 === undefined) throw new RangeError(`the pool has no bin ${bin}`);
  return { lowerX64, upperX64 };
}

/** Prices at the edges of the current bin alone. */
export function cursorEdges(state: PoolState, midX64: bigint): BinEdges {
  const { lengthE6 } = binAt(state, state.cursor.bin);
  return {
    lowerX64: edgePriceFloor(midX64, state.cursor.lowerDistE6),
    upperX64: edgePriceFloor(midX64, state.cursor.lowerDistE6 + lengthE6),
  };
}

/** Fee of buying token0 in a bin, Q64.64. */
export function buyFeeX64(frame: PriceFrame, bin: BinState): bigint {
  return frame.baseFeeX64 + (BigInt(bin.addFeeBuyE6) * Q64) / E6;
}

/** Fee of selling token0 in a bin, Q64.64. */
export function sellFeeX64(frame: PriceFrame, bin: BinState): bigint {
  return frame.baseFeeX64 + (BigInt(bin.addFeeSellE6) * Q64) / E6;
}

/** What a buyer pays at a marginal price, with the bin's fee and the notional fee on top, Q64.64. */
export function buyPriceCeil(marginalX64: bigint, feeX64: bigint, notionalFeeE8: number): bigint {
  const withFee = shiftRightCeil(marginalX64 * (Q64 + feeX64), 64n);
  return notionalFeeE8 === 0 ? withFee : divCeil(withFee * E8, E8 - BigInt(notionalFeeE8));
}

/** What a seller gets at a marginal price, with the bin's fee and the notional fee taken off, Q64.64. */
export function sellPriceFloor(marginalX64: bigint, feeX64: bigint, notionalFeeE8: number): bigint {
  const withFee = (marginalX64 * Q64) / (Q64 + feeX64);
  return notionalFeeE8 === 0 ? withFee : mulDivFloor(withFee, E8 - BigInt(notionalFeeE8), E8);
}

/** What the pool's `getSellAndBuyPrices` answers, to the last digit. Same errors as `priceFrame`. */
export function sellAndBuyPrices(state: PoolState, quote: ProviderQuote): SellAndBuyPrices {
  return framePrices(state, priceFrame(quote));
}

/** `sellAndBuyPrices` for a frame that is already known. */
export function framePrices(state: PoolState, frame: PriceFrame): SellAndBuyPrices {
  const bin = binAt(state, state.cursor.bin);
  const marginalX64 = priceAtFloor(cursorEdges(state, frame.midX64), state.cursor.position);
  return {
    sellX64: sellPriceFloor(marginalX64, sellFeeX64(frame, bin), state.notionalFeeE8),
    buyX64: buyPriceCeil(marginalX64, buyFeeX64(frame, bin), state.notionalFeeE8),
  };
}
