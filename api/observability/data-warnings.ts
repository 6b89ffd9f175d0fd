import { PRICE_STATUS_MAX_AGE_SECS } from '../../protocol/quote-status.ts';
import type { DataAges } from '../../quoting/pools/chain-catalog.ts';
import type { ChainLag } from './chain-lag.ts';

/** A listing and prices that are older than this are not refreshed: the status of each pool is unknown by then. */
const MAX_AGE_SECS = PRICE_STATUS_MAX_AGE_SECS;

/** Most pools that a warning names. */
const MAX_NAMES = 10;

type CaptureAges = Pick<DataAges, 'listingAgeSecs' | 'newestPriceAgeSecs'>;

/**
 * Warns, by chain, when capture refreshes no listing or reads no price. Says nothing of a chain that is not indexed.
 */
export function captureWarnings(
  lags: readonly ChainLag[],
  ages: (chainId: number) => CaptureAges,
): Readonly<Record<string, string>> {
  const warnings = lags.flatMap(({ chainId, indexedBlock }) => {
    const warning = indexedBlock === null ? null : captureWarning(ages(chainId));
    return warning === null ? [] : [[`capture-${chainId}`, warning]];
  });
  return Object.fromEntries(warnings);
}

function captureWarning({ listingAgeSecs, newestPriceAgeSecs }: CaptureAges): string | null {
  if (listingAgeSecs === null) return 'capture has not computed the listing yet';
  if (listingAgeSecs > MAX_AGE_SECS) return `capture last computed the listing ${listingAgeSecs} s ago`;
  if (newestPriceAgeSecs !== null && newestPriceAgeSecs > MAX_AGE_SECS)
    return `capture last read a price ${newestPriceAgeSecs} s ago`;
  return null;
}

/** Warns, by chain, while calls to its nodes fail. */
export function nodeWarnings(
  chains: Iterable<{ readonly chainId: number; readonly nodes: { readonly isFailing: boolean } }>,
): Readonly<Record<string, string>> {
  const failing = [...chains].filter(({ nodes }) => nodes.isFailing);
  return Object.fromEntries(
    failing.map(({ chainId }) => [`nodes-${chainId}`, 'calls to all nodes of the chain fail: quotes get 500 or 503']),
  );
}

/** Warns, by chain, when its index is not what the chain holds. */
export function auditWarnings(
  lags: readonly ChainLag[],
  ages: (chainId: number) => Pick<DataAges, 'audit'>,
): Readonly<Record<string, string>> {
  const warnings = lags.flatMap(({ chainId }) => {
    const { differingPools, differingFactories } = ages(chainId).audit;
    const names = [
      ...differingPools.map(({ poolAddress, agreedBlock }) => nameWith(`pool ${poolAddress}`, agreedBlock)),
      ...differingFactories.map(({ factory, agreedBlock }) => nameWith(`pools of factory ${factory}`, agreedBlock)),
    ];
    if (names.length === 0) return [];
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    const named = names.slice(0, MAX_NAMES).join(', ');
    return [[`index-${chainId}`, `the index differs from the chain: ${named}${more}`]];
  });
  return Object.fromEntries(warnings);
}

const nameWith = (name: string, agreedBlock: number | null): string =>
  agreedBlock === null ? name : `${name} after block ${agreedBlock}`;
