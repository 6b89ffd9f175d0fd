import { divCeil, Q64 } from '../../protocol/fixed-point.ts';
import type { ExactInQuote, ExactOutQuote } from './exact-quotes.ts';

/** A number rounded both ways to Q64.64. Both results are the same when it is exact. */
export interface RoundedX64 {
  /** Rounded down. */
  readonly floorX64: bigint;
  /** Rounded up. */
  readonly ceilX64: bigint;
}

/** Decimals of the two tokens of a price, which is output per input. */
export interface TokenDecimals {
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}

/** 2^-64 is 5^64 * 10^-64. */
const FRACTION_DIGITS = 64;
const TO_DECIMAL = 5n ** 64n;
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;
/** `bidAdj`, `askAdj` and `price` are prices of whole tokens already. */
const WHOLE_TOKENS: TokenDecimals = { decimalsIn: 0, decimalsOut: 0 };

/**
 * Computes the average output per input of a fill, like `effectivePriceX64` of a route.
 *
 * @param fill from `quoteExactIn` or `quoteExactOut`
 * @returns raw output per raw input, Q64.64
 * @throws RangeError for an input of 0
 * @example
 * const { floorX64 } = averagePrice(quoteExactIn(quote.depth.bids, 10n ** 18n));
 * toDecimalPrice(floorX64, { decimalsIn: 18, decimalsOut: 6 }); // '2998.7...'
 */
export function averagePrice(fill: ExactInQuote | ExactOutQuote): RoundedX64 {
  const [input, output] =
    'amountIn' in fill ? [fill.amountIn, fill.amountOutFloor] : [fill.amountInCeil, fill.amountOut];
  if (input <= 0n) throw new RangeError('An input of 0 has no price');
  return dividedX64(output * Q64, input);
}

/**
 * Converts a Q64.64 price to decimal. The result is exact: each such number has finitely many digits.
 *
 * @param priceX64 Q64.64
 * @param decimals of the tokens of a price of raw units, such as `effectivePriceX64`. Leave it out for a price of whole
 *   tokens, such as `bidAdj`
 * @returns whole output tokens per whole input token, such as `2999.4`
 * @throws RangeError below 0
 */
export function toDecimalPrice(
  priceX64: string | bigint,
  { decimalsIn, decimalsOut }: TokenDecimals = WHOLE_TOKENS,
): string {
  const price = BigInt(priceX64);
  if (price < 0n) throw new RangeError(`Price ${price} is negative`);
  const places = FRACTION_DIGITS - decimalsIn + decimalsOut;
  const digits = String(price * TO_DECIMAL * tenTo(-places)).padStart(places + 1, '0');
  const point = digits.length - Math.max(places, 0);
  const fraction = digits.slice(point).replace(/0+$/, '');
  return fraction ? `${digits.slice(0, point)}.${fraction}` : digits.slice(0, point);
}

/**
 * Converts a decimal price to Q64.64.
 *
 * @param price whole output tokens per whole input token, such as `'2999.4'`
 * @param decimals of the tokens, to get a price of raw units. Leave it out to get a price of whole tokens
 * @returns the price rounded down and up
 * @throws SyntaxError for a text that is not a plain decimal number
 */
export function fromDecimalPrice(price: string, { decimalsIn, decimalsOut }: TokenDecimals = WHOLE_TOKENS): RoundedX64 {
  const [, whole, fraction = ''] = DECIMAL.exec(price) ?? [];
  if (whole === undefined) throw new SyntaxError(`'${price}' is not a decimal price`);
  const places = decimalsOut - decimalsIn - fraction.length;
  return dividedX64(BigInt(whole + fraction) * Q64 * tenTo(places), tenTo(-places));
}

const dividedX64 = (numerator: bigint, denominator: bigint): RoundedX64 => ({
  floorX64: numerator / denominator,
  ceilX64: divCeil(numerator, denominator),
});

/** Gives 10^exponent; 1 for a negative exponent. */
const tenTo = (exponent: number): bigint => 10n ** BigInt(Math.max(exponent, 0));
