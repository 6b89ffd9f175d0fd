const DIGITS = 15;

/**
 * Divides, rounding down to 15 significant digits: a number of so few digits is printed as it was read.
 *
 * @param numerator not negative
 * @param denominator positive
 */
export function quotientFloor(numerator: bigint, denominator: bigint): number {
  if (numerator === 0n) return 0;
  // The scaled quotient has 15 or 16 digits.
  const scale = DIGITS - (`${numerator}`.length - `${denominator}`.length);
  const scaled =
    scale >= 0 ? (numerator * 10n ** BigInt(scale)) / denominator : numerator / (denominator * 10n ** BigInt(-scale));
  return Number(`${`${scaled}`.slice(0, DIGITS).padEnd(`${scaled}`.length, '0')}e${-scale}`);
}
