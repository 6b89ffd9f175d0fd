import type { Clock } from '../../runtime/clock.ts';
import type { TokenKey } from '../pools/token-key.ts';

/** A price of one token. */
export type FiatPrice = {
  /** USD per whole token. */
  readonly usd: number;
  readonly source: 'static' | 'defillama' | 'pool';
  readonly pricedAt: Date;
};

/** Highest price of a token: a larger one is a mistake, and its sums would exceed the numbers of JSON. */
const MAX_USD = 1e15;

/** Whether a number can be the price of a token. */
export const isPlausibleUsd = (usd: number): boolean => usd >= 0 && usd <= MAX_USD;

/** Prices by token; a token without a price has no entry. */
export type FiatPrices = ReadonlyMap<TokenKey, FiatPrice>;

/** What a source returns: prices of those requested tokens that it knows, and the failures that kept it from others. */
export type PriceAnswer = { readonly prices: FiatPrices; readonly failures: readonly Error[] };

/** Tokens without a price yet, the most important first. */
export type TokensToPrice = {
  /** Priced in each run: tokens that the operator named, tokens of funded pools, and tokens priced before. */
  readonly first: readonly TokenKey[];
  /** All other tokens. Anyone can create thousands of them, so a source may leave some for later runs. */
  readonly others: readonly TokenKey[];
  /** Decimals of these tokens in the index. */
  readonly decimals?: ReadonlyMap<TokenKey, number>;
};

/** Looks prices up in one place. It never rejects, so that what it learned before a failure counts. */
export type PriceSource = (tokens: TokensToPrice) => Promise<PriceAnswer>;

/**
 * Makes a source of the prices that the operator fixed in the chains file. They are always current.
 *
 * @param wallClock Unix milliseconds
 */
export function staticPrices(prices: Readonly<Record<string, number>>, wallClock: Clock): PriceSource {
  return async ({ first, others }) => {
    const known = [...first, ...others].flatMap((token) => {
      const usd = prices[token];
      return usd === undefined ? [] : [[token, { usd, source: 'static', pricedAt: new Date(wallClock()) }] as const];
    });
    return { prices: new Map(known), failures: [] };
  };
}
