/** What the amounts are worth that are compared, whole US dollars. */
export const USD_AMOUNTS = [1_000, 10_000] as const;

/** Digits of an amount in whole tokens: more than a float has. */
const SCALE_DIGITS = 18;
const SCALE = 10 ** SCALE_DIGITS;

/**
 * The amounts of a token that are worth {@link USD_AMOUNTS}, raw units, rounded down.
 *
 * @param usd price of a whole token; null, zero or infinite: not known
 */
export function inputsWorth(usd: number | null, decimals: number | null): readonly (bigint | null)[] {
  return USD_AMOUNTS.map((amount) => {
    const scaled = usd === null ? Number.NaN : (amount / usd) * SCALE;
    if (decimals === null || !Number.isFinite(scaled)) return null;
    return (BigInt(Math.floor(scaled)) * 10n ** BigInt(decimals)) / 10n ** BigInt(SCALE_DIGITS);
  });
}
