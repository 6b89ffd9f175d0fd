import type { DataAges } from '../../quoting/pools/chain-catalog.ts';

const LOST =
  'no current token price any more: values in listings are null, and floors and orders go by the last known prices. ' +
  'See the job fiat-prices of capture';

/** What the operator should know of token prices, by chain. */
export const priceWarnings = (
  chainIds: Iterable<number>,
  ages: (chainId: number) => Pick<DataAges, 'fiatPricesLost'>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...chainIds].filter((chainId) => ages(chainId).fiatPricesLost).map((chainId) => [`fiat-prices-${chainId}`, LOST]),
  );
