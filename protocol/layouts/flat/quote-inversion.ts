import { priceAtFloor } from '../../bin-price.ts';
import type { BidAsk, SellAndBuyPrices } from '../../curve.ts';
import { divCeil, E6, E8, isqrtFloor, maxBigint, minBigint, mulDivFloor, Q64, Q128 } from '../../fixed-point.ts';
import { binAt, MAX_POSITION, type PoolState } from '../../pool-state.ts';
import { addFeeX64 } from '../side-fees.ts';
import { cursorEdges } from './geometry.ts';

/** How far from the estimate (units of 2^-64) the search looks for a mid price that yields both prices exactly. */
const MID_SEARCH_RADIUS = 8n;

/** Inclusive; empty when low > high. */
interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

/**
 * Derives a provider's quote from a pool's prices, for nodes that cannot run a call under a state override: the two
 * prices are two equations for mid and base fee. Null when no quote near the estimate gives these prices.
 *
 * Prices are rounded, so several quotes yield the same prices; this finds one of them, exactly. Error bound: its mid
 * differs from the provider's by at most 8 units (of 2^-64) x mid / cursor price; its bid and ask by at most twice that
 * and 2^-63 of the price, which is what one step of the fee is worth.
 */
export function invertPrices(state: PoolState, prices: SellAndBuyPrices): BidAsk | null {
  if (prices.sellX64 <= 0n || prices.buyX64 <= prices.sellX64) return null;
  const estimate = estimateMid(state, prices);
  for (let offset = 0n; offset <= MID_SEARCH_RADIUS; offset++) {
    for (const midX64 of offset === 0n ? [estimate] : [estimate - offset, estimate + offset]) {
      const quote = midX64 > 0n ? quoteAtMid(state, midX64, prices) : null;
      if (quote !== null) return quote;
    }
  }
  return null;
}

/**
 * Estimates the mid. Let m be the price at the cursor, F and G the factors of the buy and sell fees. Without roundings
 * and the notional fee, buy = m F and sell = m / G. F and G differ by the known additional fees: so F G = buy / sell
 * gives F, and then m. F is computed to 128 binary digits: at high prices its 64th is worth many units.
 */
function estimateMid(state: PoolState, { sellX64, buyX64 }: SellAndBuyPrices): bigint {
  const { buyX64: addBuy, sellX64: addSell } = additionalFees(state);
  const keptE8 = E8 - BigInt(state.notionalFeeE8);
  // The buy price was rounded up and the sell price down: on average by half a unit.
  const buy = (2n * buyX64 - 1n) * keptE8;
  const sell = (2n * sellX64 + 1n) * E8;
  const halfDifferenceX128 = ((addBuy - addSell) * Q64) / 2n;
  const productX256 = (buy * keptE8 * Q128 * Q128) / (sell * E8);
  const buyFactorX128 = isqrtFloor(productX256 + halfDifferenceX128 * halfDifferenceX128) + halfDifferenceX128;
  const { bin, lowerDistE6, position } = state.cursor;
  const cursorOverMid = (E6 + BigInt(lowerDistE6)) * MAX_POSITION + BigInt(binAt(state, bin).lengthE6) * position;
  return (buy * Q128 * E6 * MAX_POSITION) / (2n * E8 * buyFactorX128 * cursorOverMid);
}

/** A quote with this mid that yields both prices; null when no quote does. */
function quoteAtMid(state: PoolState, midX64: bigint, prices: SellAndBuyPrices): BidAsk | null {
  const marginalX64 = priceAtFloor(cursorEdges(state, midX64), state.cursor.position);
  if (marginalX64 === 0n) return null;
  const { buyX64: addBuy, sellX64: addSell } = additionalFees(state);
  const buy = buyFactorRange(marginalX64, prices.buyX64, state.notionalFeeE8);
  const sell = sellFactorRange(marginalX64, prices.sellX64, state.notionalFeeE8);
  const factor = intersect(shift(buy, -addBuy), shift(sell, -addSell));
  // ceil(ask * 2^64 / mid) is the factor, 1 + base fee.
  const asks = {
    low: mulDivFloor(midX64, factor.low - 1n, Q64) + 1n,
    high: mulDivFloor(midX64, factor.high, Q64),
  };
  if (factor.low > factor.high || asks.low > asks.high) return null;
  const askX64 = (asks.low + asks.high) >> 1n;
  const bidX64 = divCeil(midX64 * midX64, askX64);
  const isMid = isqrtFloor(bidX64 * askX64) === midX64;
  return isMid && bidX64 < askX64 ? { bidX64, askX64 } : null;
}

/** The factors F for which the buy price at m is exactly this one: undoes both of its ceilings. */
function buyFactorRange(marginalX64: bigint, buyX64: bigint, notionalFeeE8: number): Range {
  const keptE8 = E8 - BigInt(notionalFeeE8);
  const withFee = { low: mulDivFloor(buyX64 - 1n, keptE8, E8) + 1n, high: mulDivFloor(buyX64, keptE8, E8) };
  return {
    low: mulDivFloor(withFee.low - 1n, Q64, marginalX64) + 1n,
    high: mulDivFloor(withFee.high, Q64, marginalX64),
  };
}

/** The factors G for which the sell price at m is exactly this one: undoes both of its floors. */
function sellFactorRange(marginalX64: bigint, sellX64: bigint, notionalFeeE8: number): Range {
  const keptE8 = E8 - BigInt(notionalFeeE8);
  const withFee = { low: divCeil(sellX64 * E8, keptE8), high: divCeil((sellX64 + 1n) * E8, keptE8) - 1n };
  return {
    low: mulDivFloor(marginalX64, Q64, withFee.high + 1n) + 1n,
    high: mulDivFloor(marginalX64, Q64, withFee.low),
  };
}

/** The current bin's own fees, Q64.64. */
function additionalFees(state: PoolState): SellAndBuyPrices {
  const bin = binAt(state, state.cursor.bin);
  return { buyX64: addFeeX64(bin, false), sellX64: addFeeX64(bin, true) };
}

function shift({ low, high }: Range, by: bigint): Range {
  return { low: low + by, high: high + by };
}

function intersect(a: Range, b: Range): Range {
  return { low: maxBigint(a.low, b.low), high: minBigint(a.high, b.high) };
}
