import type { PricedToken } from './usd-value.ts';

/** How old the last price of a token is: shown, or not shown but made within a day, or older. */
export const PRICE_AGE = { shown: 0, ofDay: 1, older: 2 } as const;
export type PriceAge = (typeof PRICE_AGE)[keyof typeof PRICE_AGE];

/** The last price of a token. */
export type LastPrice = {
  /** USD per whole token. */
  readonly usd: number;
  readonly age: PriceAge;
};

/** A token with its last price; null when it never had one. */
export type LastPricedToken = Pick<PricedToken, 'decimals'> & { readonly lastPrice: LastPrice | null };

/** Gives a token the price that it has, unless that is older than `age`. */
export const pricedToken = ({ decimals, lastPrice }: LastPricedToken, age: PriceAge): PricedToken => ({
  decimals,
  usd: lastPrice && lastPrice.age <= age ? lastPrice.usd : null,
});

const DAY_MS = 86_400_000;

/** Times after which prices are shown, and are of a day. @param fiatMaxAgeSecs an older price is not shown */
export const priceTimes = (nowMs: number, fiatMaxAgeSecs: number) => ({
  pricedSince: new Date(nowMs - fiatMaxAgeSecs * 1_000),
  knownSince: new Date(nowMs - DAY_MS),
});
export type PriceTimes = ReturnType<typeof priceTimes>;
