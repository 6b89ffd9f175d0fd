/**
 * Exact arithmetic on quotes: bigints in raw units, every rounding against the trader and named. Depends on nothing.
 *
 * @module
 */
export {
  type ExactInQuote,
  type ExactOutQuote,
  InsufficientDepthError,
  type Level,
  maxIn,
  maxOut,
  quoteExactIn,
  quoteExactOut,
} from './math/exact-quotes.ts';
export { averagePrice, fromDecimalPrice, type RoundedX64, type TokenDecimals, toDecimalPrice } from './math/prices.ts';
export {
  bestPoolExactIn,
  bestPoolExactOut,
  type Candidate,
  isTradable,
  type Side,
  type TradableOptions,
  type TradableQuote,
} from './math/tradable.ts';
