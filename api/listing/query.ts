import type { Address } from 'viem';
import { DEFAULT_MIN_TVL_FIAT } from '../../db/listing/default-floor.ts';
import { MAX_SEARCH_LENGTH } from '../../db/listing/search-terms.ts';
import { TIERS } from '../../protocol/classification.ts';
import { badRequest } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { clampSize, oneOf } from '../request.ts';
import { DEFAULT_COUNT, type RawListingQuery, type Sort } from './query-string.ts';

const MAX_COUNT = 500;
const MAX_ADDRESSES = 500;
const MIN_SEARCH_LENGTH = 2;
const ORDERS = ['asc', 'desc'] as const;
/** Orders by figures that are in other tables than the listing. */
const UNINDEXED_SORTS: readonly Sort[] = ['change', 'depth', 'persistence'];

/** What a client requests of the listing, checked and with defaults filled in. */
export type ListingQuery = Readonly<ReturnType<typeof toListingQuery>>;

/**
 * Checks values and fills defaults in.
 *
 * @param sorts the sort orders that this listing takes
 * @throws ApiError 400
 */
export function toListingQuery(raw: RawListingQuery, sorts: readonly Sort[]) {
  const delistedOnly = raw.blacklistedOnly ?? false;
  /** Lowercase, distinct; null: any. */
  const addresses = raw.addresses === undefined ? null : parseAddresses(raw.addresses);
  if (addresses && delistedOnly) throw badRequest('addresses cannot be combined with blacklistedOnly=true');
  if ((raw.fiat ?? 'USD') !== 'USD') throw badRequest('fiat must be USD');
  const floor = raw.minTvlFiat ?? (addresses || delistedOnly ? 0 : DEFAULT_MIN_TVL_FIAT);
  return {
    ...toPageQuery(raw),
    sort: oneOf((raw.sortBy ?? 'tiered').toLowerCase(), sorts, 'sortBy'),
    order: oneOf(raw.sortOrder ?? 'desc', ORDERS, 'sortOrder'),
    include24h: raw.include24h ?? false,
    /** USD. Null, as for a floor of zero or less: all pools, also those of unknown TVL. */
    minTvlFiat: floor > 0 ? floor : null,
    /** Basis points; null: any, also those of unknown persistence. */
    maxPersistenceBps: raw.maxPersistenceBps ?? null,
    /** Null: any. */
    tiers: raw.tier?.split(',').map((tier) => oneOf(tier.trim(), TIERS, 'tier')) ?? null,
    lockedPricingOnly: raw.lockedPricingOnly ?? false,
    depositAllowlistOnly: raw.depositAllowlistEnabled ?? false,
    delistedOnly,
    /** Lowercase beginning of an address, a symbol or a pair; null: any. */
    search: raw.search === undefined ? null : parseSearch(raw.search),
    addresses,
    contractVersion: raw.contract_version ?? null,
  };
}

/**
 * Whether a page is a first one of default length, with the default floor or none, no other filter, and an order that
 * an index has. Such pages are few enough to keep a plan of each.
 */
export function isCommon({ count, offset, minTvlFiat, ...query }: ListingQuery): boolean {
  const { search, addresses, tiers, contractVersion, maxPersistenceBps } = query;
  const isFiltered = [search, addresses, tiers, contractVersion, maxPersistenceBps].some((filter) => filter !== null);
  const isIndexed = !UNINDEXED_SORTS.includes(query.sort);
  const isFlagged = query.lockedPricingOnly || query.depositAllowlistOnly || query.delistedOnly;
  const hasCommonFloor = minTvlFiat === null || minTvlFiat === DEFAULT_MIN_TVL_FIAT;
  return count === DEFAULT_COUNT && offset === 0 && hasCommonFloor && isIndexed && !isFiltered && !isFlagged;
}

/** Which part of a list a page shows. */
export type PageQuery = Readonly<ReturnType<typeof toPageQuery>>;

/** Checks the size and the place of a page, and fills defaults in. @throws ApiError 400 */
export const toPageQuery = ({ count, offset }: Pick<RawListingQuery, 'count' | 'offset'>) => ({
  /** 1..500. */
  count: clampSize(count ?? DEFAULT_COUNT, MAX_COUNT, 'count'),
  offset: clampSize(offset ?? 0, Number.MAX_SAFE_INTEGER, 'offset', 0),
});

/**
 * @returns null: all chains
 * @throws ApiError 400 for an entry that is not a number
 */
export function parseChainIds(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const entries = text.split(',').map((entry) => entry.trim());
  if (!entries.every((entry) => /^\d+$/.test(entry))) throw badRequest('chainIds must be comma-separated integers');
  return entries.map(Number);
}

/** Reads the addresses of distinct pools, lowercase. @throws ApiError 400 */
export function parseAddresses(text: string, most = MAX_ADDRESSES): readonly Address[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (text.trim() === '') throw badRequest('addresses must name at least one pool');
  if (entries.length > most) {
    throw badRequest(`addresses names ${entries.length} pools; at most ${most} are allowed per request`);
  }
  const parsed = entries.map((entry, index) => {
    const address = parseAddress(entry);
    if (!address) throw badRequest(`addresses[${index}] is not a valid pool address`);
    return address;
  });
  return [...new Set(parsed)];
}

function parseSearch(text: string): string {
  const search = text.trim().toLowerCase();
  const { length } = [...search];
  // Postgres rejects NUL, and no symbol has a control character.
  if (length < MIN_SEARCH_LENGTH || length > MAX_SEARCH_LENGTH || /\p{Cc}/u.test(search)) {
    throw badRequest(`search must have ${MIN_SEARCH_LENGTH} to ${MAX_SEARCH_LENGTH} printable characters`);
  }
  return search;
}
