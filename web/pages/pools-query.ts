/** What the list of pools shows. The address of the page has all of it. */
export type PoolsView = {
  /** Null: all chains. */
  readonly chain: number | null;
  readonly sort: Sort;
  readonly order: 'asc' | 'desc';
  readonly tiers: readonly Tier[];
  readonly search: string;
  readonly locked: boolean;
  readonly allowlisted: boolean;
  /** Whether pools of less than 10 USD, or of unknown TVL, are shown too. */
  readonly small: boolean;
  /** Whether only favourites are shown. */
  readonly starred: boolean;
  readonly offset: number;
};

export const SORTS = ['tiered', 'tvl', 'volume', 'apr', 'apr7d', 'created', 'change', 'depth', 'persistence'] as const;
export type Sort = (typeof SORTS)[number];
export const SORT_NAMES: Readonly<Record<Sort, string>> = {
  tiered: 'Tier, then TVL',
  tvl: 'TVL',
  volume: 'Volume 24 h',
  apr: 'APR 24 h',
  apr7d: 'APR 7 days',
  created: 'Newest (one chain)',
  change: 'Change 24 h',
  depth: 'Depth 1 %, where sampled',
  persistence: 'Quotes that did not hold',
};
export const TIERS = ['green', 'yellow', 'red'] as const;
export type Tier = (typeof TIERS)[number];

export const PAGE_SIZE = 25;
/** Length from which a text is searched for. */
const MIN_SEARCH_CHARS = 2;

/** Reads a view from the parameters of an address. Malformed ones count as missing. */
export function viewOf(params: URLSearchParams): PoolsView {
  const chain = /^\d+$/.test(params.get('chain') ?? '') ? Number(params.get('chain')) : null;
  const requested = SORTS.find((sort) => sort === params.get('sort')) ?? 'tiered';
  const tiers = (params.get('tier') ?? '').split(',');
  const offset = Number(params.get('offset'));
  return {
    chain,
    // Block numbers of different chains cannot be compared.
    sort: requested === 'created' && chain === null ? 'tiered' : requested,
    order: params.get('order') === 'asc' ? 'asc' : 'desc',
    tiers: TIERS.filter((tier) => tiers.includes(tier)),
    search: params.get('search') ?? '',
    locked: params.get('locked') === '1',
    allowlisted: params.get('allowlisted') === '1',
    small: params.get('small') === '1',
    starred: params.get('starred') === '1',
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

/** Writes the address of a view, without default values. */
export function hrefOf(view: PoolsView): string {
  const { chain, sort, order, tiers, search, locked, allowlisted, small, starred, offset } = view;
  const entries: readonly (readonly [string, string | false])[] = [
    ['chain', chain !== null && String(chain)],
    ['search', search !== '' && search],
    ['sort', sort !== 'tiered' && sort],
    ['order', order !== 'desc' && order],
    ['tier', tiers.length > 0 && tiers.join(',')],
    ['locked', locked && '1'],
    ['allowlisted', allowlisted && '1'],
    ['small', small && '1'],
    ['starred', starred && '1'],
    ['offset', offset > 0 && String(offset)],
  ];
  const text = new URLSearchParams(entries.filter((entry): entry is [string, string] => entry[1] !== false)).toString();
  return text === '' ? '/' : `/?${text}`;
}

/** Gives the parameters of the listing that shows a view. @param favourites addresses of pools */
export function listingQuery(
  { tiers, search, locked, allowlisted, small, starred, ...view }: PoolsView,
  favourites: readonly string[] = [],
) {
  const searched = search.trim().length >= MIN_SEARCH_CHARS ? search.trim() : null;
  return {
    count: PAGE_SIZE,
    offset: view.offset,
    sortBy: view.sort,
    sortOrder: view.order,
    include24h: true,
    ...(tiers.length > 0 && { tier: tiers.join(',') }),
    ...(searched !== null && { search: searched }),
    ...(locked && { lockedPricingOnly: true }),
    ...(allowlisted && { depositAllowlistEnabled: true }),
    ...(starred && { addresses: favourites.join() }),
    // Whoever searches for a pool by name wants to see it, however small it is.
    ...((small || searched !== null) && { minTvlFiat: 0 }),
  };
}

/** Gives the path of the same request, for the curl line. */
export function listingPath(view: PoolsView, favourites: readonly string[] = []): string {
  const scope = view.chain === null ? '' : `/${view.chain}`;
  const entries = Object.entries(listingQuery(view, favourites)).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return `/public/v1/evm${scope}/metadata?${new URLSearchParams(entries)}`;
}
