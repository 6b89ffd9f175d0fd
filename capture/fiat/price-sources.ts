import type { TokenKey } from './token-key.ts';

/** A price of one token in USD per whole token. */
export type FiatPrice = {
  readonly usd: number;
  readonly source: 'static' | 'defillama' | 'pool';
  readonly pricedAt: Date;
};

/** Prices by `chainId:address`; a token without a price has no entry. */
export type FiatPrices = ReadonlyMap<TokenKey, FiatPrice>;

/** A place prices come from. It may know some of the tokens asked for, or none. */
export type PriceSource = (tokens: readonly TokenKey[]) => Promise<FiatPrices>;
