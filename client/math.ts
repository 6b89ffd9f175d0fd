/**
 * Exact arithmetic on quotes, with bigints in raw units. Every rounding is named and goes against the trader. It has no
 * dependencies.
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
export { MissingFieldError } from './math/integer-field.ts';
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
