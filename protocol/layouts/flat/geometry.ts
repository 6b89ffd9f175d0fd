import { type BinEdges, priceAtFloor } from '../../bin-price.ts';
import type { BidAsk, SellAndBuyPrices } from '../../curve.ts';
import { divCeil, isqrtFloor, Q64 } from '../../fixed-point.ts';
import { type BinState, binAt, type PoolState } from '../../pool-state.ts';
import { type Charge, withFee } from '../bin-fill.ts';
import { edgePriceFloor, pricePool as layBins, type PricedPool } from '../ladder.ts';
import { type SideCurve, type Sides, sideCurve as sideOf } from '../side-curve.ts';
import { addFeeX64, withEndFee } from '../side-fees.ts';

/** What a provider's quote means for a pool: the price that its bins are laid around, and the fee of every swap. */
export interface PriceFrame {
  /** Q64.64 */
  readonly midX64: bigint;
  /** Fee over the marginal price, Q64.64: 2^64 = 100%. */
  readonly baseFeeX64: bigint;
}

/** Whether a pool accepts a quote: its bid is positive and below its ask. */
export function isTradableQuote({ bidX64, askX64 }: BidAsk): boolean {
  return bidX64 > 0n && bidX64 < askX64;
}

/** The frame of a tradable quote. Throws a RangeError for any other: the pool would refuse it. */
export function priceFrame(quote: BidAsk): PriceFrame {
  if (!isTradableQuote(quote)) throw new RangeError('the quote needs 0 < bid < ask');
  const midX64 = isqrtFloor(quote.bidX64 * quote.askX64);
  return { midX64, baseFeeX64: baseFeeX64(quote, midX64) };
}

/** Lays a pool's bins around the middle of a quote. Same errors as `priceFrame`. */
export function pricePool(state: PoolState, quote: BidAsk): PricedPool {
  return layBins(state, { ...quote, referenceX64: priceFrame(quote).midX64 });
}

/** Computes one side of a pool. A level's cumulative amounts are what an exact input takes and gives. */
export function sideCurve(priced: PricedPool, zeroForOne: boolean): SideCurve {
  const { state, quote } = priced;
  const base = baseFeeX64(quote, quote.referenceX64);
  return sideOf(priced, zeroForOne, {
    charge: (bin) => chargeOf(base, bin, zeroForOne),
    endFeeE8: state.notionalFeeE8,
    marginE15: 0n,
    leavesE6: state.spreadFeeE6,
  });
}

/** Both sides. */
export function walkSides(priced: PricedPool): Sides {
  return { bids: sideCurve(priced, true), asks: sideCurve(priced, false) };
}

/** Prices at the edges of the current bin alone. */
export function cursorEdges(state: PoolState, midX64: bigint): BinEdges {
  const { lengthE6 } = binAt(state, state.cursor.bin);
  return {
    lowerX64: edgePriceFloor(midX64, state.cursor.lowerDistE6),
    upperX64: edgePriceFloor(midX64, state.cursor.lowerDistE6 + lengthE6),
  };
}

/** What the pool's `getSellAndBuyPrices` answers, exactly. Same errors as `priceFrame`. */
export function sellAndBuyPrices(state: PoolState, quote: BidAsk): SellAndBuyPrices {
  const { midX64, baseFeeX64: base } = priceFrame(quote);
  const bin = binAt(state, state.cursor.bin);
  const marginalX64 = priceAtFloor(cursorEdges(state, midX64), state.cursor.position);
  const priceX64 = (zeroForOne: boolean) =>
    withEndFee(withFee(marginalX64, chargeOf(base, bin, zeroForOne), zeroForOne), state.notionalFeeE8, zeroForOne);
  return { sellX64: priceX64(true), buyX64: priceX64(false) };
}

const baseFeeX64 = ({ askX64 }: BidAsk, midX64: bigint): bigint => divCeil(askX64 * Q64, midX64) - Q64;

const chargeOf = (base: bigint, bin: BinState, zeroForOne: boolean): Charge => ({
  on: 'net',
  factorX64: Q64 + base + addFeeX64(bin, zeroForOne),
});
