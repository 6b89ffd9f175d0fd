import { mulDivFloor } from '../../protocol/fixed-point.ts';

/** Dollars scaled by 10^18. */
export type UsdE18 = bigint;

/** A token as the listing values it. With a null price or null decimals, the value of its amounts is unknown. */
export type PricedToken = {
  /** USD per whole token. */
  readonly usd: number | null;
  readonly decimals: number | null;
};

const USD_SCALE_DECIMALS = 18;
const MICRO_PER_DOLLAR = 1_000_000;
const E18_PER_MICRO = 10n ** 12n;

/** From here on `toFixed` writes a number with an exponent, and every number is a whole one. */
const EXPONENT_FROM = 1e21;

/** Converts a price by its exact decimal digits, down to 10^-18 dollars. */
export function toPriceE18(usd: number): UsdE18 {
  if (usd >= EXPONENT_FROM) return BigInt(usd) * 10n ** BigInt(USD_SCALE_DECIMALS);
  const [whole = '0', fraction = ''] = usd.toFixed(USD_SCALE_DECIMALS).split('.');
  return BigInt(whole) * 10n ** BigInt(USD_SCALE_DECIMALS) + BigInt(fraction);
}

/**
 * Value of an amount, rounded down.
 *
 * @param amount in units of 10^-decimals tokens, not negative
 */
export function usdValueFloor(amount: bigint, decimals: number, priceE18: UsdE18): UsdE18 {
  return mulDivFloor(amount, priceE18, 10n ** BigInt(decimals));
}

/** Gives dollars as a JSON number, truncated to millionths. This is the last step, after all sums. */
export function toDollars(value: UsdE18): number {
  return Number(value / E18_PER_MICRO) / MICRO_PER_DOLLAR;
}

/**
 * Sum of values; null when one is unknown. Leave amounts of zero out: they are worth nothing at any price.
 */
export function sumKnown(values: readonly (UsdE18 | null)[]): UsdE18 | null {
  let sum = 0n;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return sum;
}
