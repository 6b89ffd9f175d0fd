import type { TokenKey } from './token-key.ts';

/** A price of one token. */
export type FiatPrice = {
  /** USD per whole token. */
  readonly usd: number;
  readonly source: 'static' | 'defillama' | 'pool';
  readonly pricedAt: Date;
};

/** No token is worth more: a larger price is a mistake, whose sums would leave the numbers of JSON. */
const MAX_USD = 1e15;

/** Whether a number can be the price of a token. */
export const isPlausibleUsd = (usd: number): boolean => usd >= 0 && usd <= MAX_USD;

/** Prices by token; a token without a price has no entry. */
export type FiatPrices = ReadonlyMap<TokenKey, FiatPrice>;

/** What a source says: it may know any part of the tokens asked for, and may have failed for others. */
export type PriceAnswer = { readonly prices: FiatPrices; readonly failures: readonly Error[] };

/** Tokens without a price yet, the most important first. */
export type TokensToPrice = {
  /** Priced in each round: those that the operator named, of funded pools, or priced before. */
  readonly first: readonly TokenKey[];
  /** Anyone makes these by the thousand: a source may leave some for later rounds. */
  readonly others: readonly TokenKey[];
};

/** A place prices come from. It does not reject: what it learned before it failed counts. */
export type PriceSource = (tokens: TokensToPrice) => Promise<PriceAnswer>;

/** Prices that the operator fixed in the chains file: always of now. */
export function staticPrices(prices: Readonly<Record<string, number>>): PriceSource {
  return async ({ first, others }) => {
    const known = [...first, ...others].flatMap((token) => {
      const usd = prices[token];
      return usd === undefined ? [] : [[token, { usd, source: 'static', pricedAt: new Date() }] as const];
    });
    return { prices: new Map(known), failures: [] };
  };
}
