import { isFound, searchQuery } from '../../db/listing/search-terms.ts';
import type { PoolAtReading } from '../../db/listing/show-pool.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { listedPools, listingPrices, listingWindows, poolListings, priceHealth } from '../../db/schema/operator.ts';
import { columnNames, tableName } from '../../db/sql-names.ts';
import type { ListedChain } from './listed-chains.ts';
import { DEFAULT_MIN_TVL_FIAT, type ListingQuery } from './query.ts';
import { DEFAULT_COUNT, type Sort } from './query-string.ts';

/** A statement with positional parameters; a named one is planned once per connection. */
export type Statement = { readonly text: string; readonly values: unknown[]; readonly name?: string };

/** Pools to list: those of these factories. `single`: the listing of one chain, whose indexes begin with the chain. */
export type ListingScope = { readonly single: boolean; readonly chains: readonly ListedChain[] };

const LISTING = tableName(poolListings);
const WINDOW = tableName(listingWindows);
const PRICE = tableName(listingPrices);
const key = columnNames(poolListings);
const pool = columnNames(listedPools);
const window = columnNames(listingWindows);
const price = columnNames(listingPrices);
const health = columnNames(priceHealth);

/** Sort keys, first to last; each sort has an index per scope. Unknown values come last both ways. */
const SORT_KEYS: Readonly<Record<Sort, readonly (keyof typeof key)[]>> = {
  tiered: ['tierRank', 'tvlFiat'],
  tvl: ['tvlFiat'],
  created: ['createdBlockNumber'],
  volume: ['volumeFiat', 'tvlFiat'],
  apr: ['aprBps'],
  apr7d: ['aprBps7d'],
};

/** The one row of {@link versionStatement}. */
export type VersionRow = {
  /** Changes whenever a page may: at each refresh, and when a chain's listing becomes too old. Null before the first. */
  readonly version: string | null;
};

type ListedPool = typeof listedPools.$inferSelect;

/** A row of {@link pageStatement}: one per pool, with the same state in each; one without a pool when the page is empty. */
export type PageRow = VersionRow & {
  /** Count of matching pools; null when it was not asked for. */
  readonly total: string | null;
} & ((ShownColumns & (DayColumns | { readonly analytics?: undefined })) | { readonly record: null });

/** What a row has of a pool. */
type ShownColumns = Pick<ListedPool, 'record'> & {
  readonly status: (typeof priceHealth.$inferSelect)['status'];
  /** Whether the prices of its tokens are those of the refresh; otherwise they stand in the record. */
  readonly isPriced: boolean;
  readonly usd0: number | null;
  readonly usd1: number | null;
};

/** What a row has besides with `include24h`. */
type DayColumns = Pick<ListedPool, 'analytics'> &
  Pick<typeof listingWindows.$inferSelect, (typeof WINDOW_FIELDS)[number]> & { readonly tvlFiat: string | null };

const WINDOW_FIELDS = ['fromTs', 'toTs', 'generatedAtTs', 'fromBlock', 'toBlock'] as const;

/** A page's pools as they are when they are read. */
export function poolsOf(rows: readonly PageRow[]): PoolAtReading[] {
  return rows.flatMap((row) => {
    if (row.record === null) return [];
    const day = row.analytics === undefined ? null : dayOf(row);
    const { record, status, isPriced, usd0, usd1 } = row;
    return [{ record, status, prices: isPriced ? [usd0, usd1] : null, day }];
  });
}

function dayOf({ analytics, tvlFiat, fromTs, toTs, generatedAtTs, fromBlock, toBlock }: DayColumns) {
  return { analytics, window: { fromTs, toTs, generatedAtTs, fromBlock, toBlock }, tvlFiat };
}

/** Whether a chain's window, as `w`, is too old for its price statuses to count. */
const isStale = (maxAge: string) => `w.${window.generatedAtTs} <= extract(epoch FROM now()) - ${maxAge}::int8`;

/** Number and second of the refresh (numbers start anew with a new database), then the chains that are too old. */
const versionOf = (maxAge: string) => `(
  SELECT max(w.${window.generation}) || '@' || max(w.${window.generatedAtTs}) || ':' || coalesce(
    string_agg(w.${window.chainId}::text, ',' ORDER BY w.${window.chainId}) FILTER (WHERE ${isStale(maxAge)}), '')
  FROM ${WINDOW} w) AS version`;

/**
 * State of the listing: pages of one version are the same.
 *
 * @param maxAgeSecs as of {@link pageStatement}
 */
export function versionStatement(maxAgeSecs: number): Statement {
  return { name: 'listing-version', text: `SELECT ${versionOf('$1')}`, values: [maxAgeSecs] };
}

/**
 * One page and, with `withTotal`, the count of all matching pools in the same snapshot.
 *
 * @param maxAgeSecs a price status read longer ago is `unknown`, as is every one in a listing that was refreshed longer ago
 */
export function pageStatement(
  query: ListingQuery,
  scope: ListingScope,
  maxAgeSecs: number,
  withTotal: boolean,
): Statement {
  const { conditions, values } = matching(query, scope);
  const bind = (value: unknown) => `$${values.push(value)}`;
  const order = orderBy(query, scope);
  const total = withTotal ? `(SELECT count(*) FROM ${LISTING} WHERE ${conditions})` : 'NULL::int8';
  // The planner must know how few rows a page has; the start of the usual page is a literal for the same reason.
  const range = `LIMIT ${query.count} OFFSET ${query.offset === 0 ? 0 : bind(query.offset)}`;
  const maxAge = bind(maxAgeSecs);
  const text = `
    SELECT ${versionOf(maxAge)}, ${total} AS total, page.*
    FROM (SELECT) state LEFT JOIN (
      SELECT l.position, r.${pool.record} AS record,
             r.${pool.token0} IS NOT NULL AS "isPriced", p0.${price.usd} AS usd0, p1.${price.usd} AS usd1,
             CASE WHEN ${isStale(maxAge)} THEN 'unknown' ELSE coalesce(h.${health.status}, 'unknown') END AS status
             ${query.include24h ? DAY_COLUMNS : ''}
      FROM (
        SELECT ${key.chainId}, ${key.pool}, ${key.tvlFiat},
               row_number() OVER (ORDER BY ${order}) AS position
        FROM ${LISTING} WHERE ${conditions} ORDER BY ${order} ${range}
      ) l
      JOIN ${tableName(listedPools)} r USING (${pool.chainId}, ${pool.pool})
      JOIN ${WINDOW} w USING (${window.chainId})
      LEFT JOIN ${tableName(priceHealth)} h ON h.${health.chainId} = l.${key.chainId} AND h.${health.pool} = l.${key.pool}
        AND h.${health.capturedAt} > now() - make_interval(secs => ${maxAge}::int8)
      LEFT JOIN ${PRICE} p0 ON p0.${price.chainId} = l.${key.chainId} AND p0.${price.token} = r.${pool.token0}
      LEFT JOIN ${PRICE} p1 ON p1.${price.chainId} = l.${key.chainId} AND p1.${price.token} = r.${pool.token1}
    ) page ON true
    ORDER BY page.position`;
  return { text, values, ...(isUsual(query) && { name: statementName(query, scope, withTotal) }) };
}

/** The driver gives float8 as numbers, and int8 as text. */
const DAY_COLUMNS = [
  `, r.${pool.analytics} AS analytics, l.${key.tvlFiat}::text AS "tvlFiat"`,
  ...WINDOW_FIELDS.map((field) => `w.${window[field]}::float8 AS "${field}"`),
].join(', ');

function matching(query: ListingQuery, { chains }: ListingScope): { conditions: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const ofChain = ({ chainId, factories }: ListedChain) =>
    `(${key.chainId} = ${bind(chainId)} AND ${key.factory} = ANY (${bind(factories)}::text[]))`;
  const ranks = query.tiers?.map((tier) => TIER_RANKS[tier]);
  const conditions = [
    chains.length > 0 ? `(${chains.map(ofChain).join(' OR ')})` : 'false',
    `${key.tierRank} ${query.delistedOnly ? '=' : '<>'} ${TIER_RANKS.black}`,
    ranks && `${key.tierRank} = ANY (${bind(ranks)}::int2[])`,
    query.minTvlFiat !== null && `${key.tvlFiat} >= ${bind(query.minTvlFiat)}`,
    query.lockedPricingOnly && key.lockedPricing,
    query.depositAllowlistOnly && key.depositAllowlist,
    query.search !== null && `(${key.chainId}, ${key.pool}) IN (${found(bind(searchQuery(query.search)))})`,
    query.addresses && `${key.pool} = ANY (${bind(query.addresses)})`,
  ];
  return { conditions: conditions.filter((condition) => typeof condition === 'string').join(' AND '), values };
}

/** The pools that a search finds. */
const found = (parameter: string) => `
  SELECT ${pool.chainId}, ${pool.pool} FROM ${tableName(listedPools)} WHERE ${isFound(pool.searchTerms, parameter)}`;

/**
 * A total order: ties end at the address, which is unique on its chain. The indexes of keys that are never null have no
 * `NULLS LAST`.
 */
function orderBy({ sort, order }: ListingQuery, scope: ListingScope): string {
  const keys = SORT_KEYS[sort].map(
    (field) => `${key[field]} ${order}${poolListings[field].notNull ? '' : ' NULLS LAST'}`,
  );
  return [...keys, ...(scope.single ? [] : [key.chainId]), key.pool].join(', ');
}

/** First pages of the default length and floor, or without one, and without a rare filter: few enough to keep a plan for each. */
export function isUsual(query: ListingQuery): boolean {
  const { count, offset, minTvlFiat, search, addresses, tiers, contractVersion } = query;
  const rare = [search, addresses, tiers, contractVersion].some((filter) => filter !== null);
  const flagged = query.lockedPricingOnly || query.depositAllowlistOnly || query.delistedOnly;
  const isUsualFloor = minTvlFiat === null || minTvlFiat === DEFAULT_MIN_TVL_FIAT;
  return count === DEFAULT_COUNT && offset === 0 && isUsualFloor && !rare && !flagged;
}

/** Statements of one name have one text: the number of chains is part of it. */
function statementName({ sort, order, include24h, minTvlFiat }: ListingQuery, scope: ListingScope, withTotal: boolean) {
  const parts = [
    sort,
    order,
    include24h && '24h',
    minTvlFiat !== null && 'floor',
    scope.single ? 'chain' : `${scope.chains.length}-chains`,
    withTotal && 'total',
  ];
  return `page-${parts.filter((part) => part !== false).join('-')}`;
}
