/** TVL that a listed pool has by default, USD. */
export const DEFAULT_MIN_TVL_FIAT = 10;
