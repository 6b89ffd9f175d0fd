import { isFound, searchQuery } from '../../db/listing/search-terms.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { listedPools, listingWindows, poolListings } from '../../db/schema/operator.ts';
import { columnNames, tableName } from '../../db/sql-names.ts';
import type { ListedChain } from './listed-chains.ts';
import {
  type Bind,
  BOOKMARK_STEP,
  type Bookmark,
  behind,
  orderBy,
  orderColumns,
  sortColumns,
} from './listing-order.ts';
import { DEFAULT_MIN_TVL_FIAT, type ListingQuery } from './query.ts';
import { DEFAULT_COUNT } from './query-string.ts';

/** A statement with positional parameters; a named one is planned once per connection. */
export type Statement = { readonly text: string; readonly values: unknown[]; readonly name?: string };

/** Pools to list: those of these factories. `single`: the listing of one chain, whose indexes begin with the chain. */
export type ListingScope = { readonly single: boolean; readonly chains: readonly ListedChain[] };

const LISTING = tableName(poolListings);
const WINDOW = tableName(listingWindows);
const key = columnNames(poolListings);
const pool = columnNames(listedPools);
const window = columnNames(listingWindows);

/** The one row of {@link versionStatement}. */
export type VersionRow = {
  /** Changes whenever a page may: at each refresh, and when a chain's listing becomes too old. Null before the first. */
  readonly version: string | null;
};

/** What is known of a filter at one version of the listing. */
export interface Counted {
  readonly version: string;
  readonly total: number;
  /** Of one order: what {@link bookmarksStatement} gives. */
  readonly bookmarks?: readonly Bookmark[];
}

/** A page's pools in order, each as `<chain id>:<address>`: an array as Postgres writes it, which goes back as it came. */
export type PagePools = string;

/** No pools. */
export const NO_POOLS: PagePools = '{}';

/** The one row of {@link findStatement}. */
export type FoundRow = VersionRow & {
  /** Count of matching pools; null when it is known. */
  readonly total: string | null;
  /** {@link PagePools}; null when the bookmarks are of another version. */
  readonly pools: PagePools | null;
};

/** The one row of {@link bookmarksStatement}. */
export type BookmarksRow = VersionRow & { readonly total: string; readonly bookmarks: readonly Bookmark[] };

const PAGE_KEY = `SELECT ${key.chainId} || ':' || ${key.pool}`;

/** Whether a chain's window, as `w`, is too old for its price statuses to count. */
export const isStale = (maxAge: string) => `w.${window.generatedAtTs} <= extract(epoch FROM now()) - ${maxAge}::int8`;

/** Number and second of the refresh (numbers start anew with a new database), then the chains that are too old. */
export const versionOf = (maxAge: string) => `(
  SELECT max(w.${window.generation}) || '@' || max(w.${window.generatedAtTs}) || ':' || coalesce(
    string_agg(w.${window.chainId}::text, ',' ORDER BY w.${window.chainId}) FILTER (WHERE ${isStale(maxAge)}), '')
  FROM ${WINDOW} w) AS version`;

/**
 * State of the listing: pages of one version are the same.
 *
 * @param maxAgeSecs a listing that was refreshed longer ago is too old
 */
export function versionStatement(maxAgeSecs: number): Statement {
  return { name: 'listing-version', text: `SELECT ${versionOf('$1')}`, values: [maxAgeSecs] };
}

/**
 * Finds the pools of one page in the narrow rows and, unless the total of the listing's version is known, counts all that
 * match, in the same snapshot.
 *
 * @param maxAgeSecs as of {@link versionStatement}
 * @param counted what is known; null: nothing. Of a far page it must have bookmarks
 */
export function findStatement(
  query: ListingQuery,
  scope: ListingScope,
  maxAgeSecs: number,
  counted: Counted | null,
): Statement {
  const { values, bind, common } = matching(query, scope);
  const version = bind(counted?.version ?? null);
  const columns = orderColumns(query, scope.single);
  const places = Math.min(Math.floor(query.offset / BOOKMARK_STEP), counted?.bookmarks?.length ?? 0);
  const bookmark = counted?.bookmarks?.[places - 1];
  const offset = query.offset - places * BOOKMARK_STEP;
  const pageOf = (rows: string) =>
    // The planner must know how few rows a page has; the start of the usual page is a literal for the same reason.
    `ARRAY(${PAGE_KEY} FROM ${rows} ORDER BY ${orderBy(columns)} LIMIT ${query.count} OFFSET ${offset === 0 ? 0 : bind(offset)})::text`;
  const page = bookmark
    ? `NULL AS total, CASE WHEN version = ${version} THEN ${pageOf(behind(bookmark, columns, offset + query.count, bind))} END`
    : `CASE WHEN version IS DISTINCT FROM ${version} THEN (SELECT count(*) FROM matching) END AS total, ${pageOf('matching')}`;
  const text = `${common} SELECT version, ${page} AS pools FROM (SELECT ${versionOf(bind(maxAgeSecs))}) state`;
  return { text, values, ...(isUsual(query) && { name: statementName(query, scope) }) };
}

/** Whether a page is found by bookmarks. Few pools match a search or addresses. */
export const isFar = (query: ListingQuery): boolean => query.offset >= BOOKMARK_STEP && !isRead(query);

/** Counts all that match, and notes the place of each {@link BOOKMARK_STEP}th in the order. @param maxAgeSecs as above */
export function bookmarksStatement(query: ListingQuery, scope: ListingScope, maxAgeSecs: number): Statement {
  const { values, bind, common } = matching(query, scope);
  const columns = orderColumns(query, scope.single);
  const place = `json_build_array(${columns.map(({ name }) => name).join(', ')})`;
  const text = `${common}
    SELECT version, counted.* FROM (SELECT ${versionOf(bind(maxAgeSecs))}) state, (
      SELECT count(*) AS total,
        coalesce(json_agg(${place} ORDER BY position) FILTER (WHERE position % ${BOOKMARK_STEP} = 0), '[]') AS bookmarks
      FROM (SELECT *, row_number() OVER (ORDER BY ${orderBy(columns)}) AS position FROM matching) numbered
    ) counted`;
  return { text, values };
}

/** Few pools match these, by an index. A planner that counts on matches soon would walk all pools in order instead. */
const isRead = (query: ListingQuery): boolean => query.search !== null || query.addresses !== null;

/** The common table `matching`, with the columns of a page and of its order, and the values of its parameters so far. */
function matching(query: ListingQuery, scope: ListingScope) {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const common = `
    WITH matching AS ${isRead(query) ? '' : 'NOT'} MATERIALIZED (
      SELECT ${[key.chainId, key.pool, ...sortColumns(query.sort)].join(', ')}
      FROM ${LISTING} WHERE ${conditionsOf(query, scope, bind)}
    )`;
  return { values, bind, common };
}

function conditionsOf(query: ListingQuery, { chains }: ListingScope, bind: Bind): string {
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
    // Out of the planner's sight, which would look at each of them.
    query.addresses && `${key.pool} = ANY ((SELECT ${bind(query.addresses)}::text[])::text[])`,
  ];
  return conditions.filter((condition) => typeof condition === 'string').join(' AND ');
}

/** The pools that a search finds. */
const found = (parameter: string) => `
  SELECT ${pool.chainId}, ${pool.pool} FROM ${tableName(listedPools)} WHERE ${isFound(pool.searchTerms, parameter)}`;

/** First pages of the default length and floor, or without one, and without a rare filter: few enough to keep a plan for each. */
export function isUsual(query: ListingQuery): boolean {
  const { count, offset, minTvlFiat, search, addresses, tiers, contractVersion } = query;
  const rare = [search, addresses, tiers, contractVersion].some((filter) => filter !== null);
  const flagged = query.lockedPricingOnly || query.depositAllowlistOnly || query.delistedOnly;
  const isUsualFloor = minTvlFiat === null || minTvlFiat === DEFAULT_MIN_TVL_FIAT;
  return count === DEFAULT_COUNT && offset === 0 && isUsualFloor && !rare && !flagged;
}

/** Statements of one name have one text: the number of chains is part of it. */
function statementName({ sort, order, minTvlFiat }: ListingQuery, scope: ListingScope) {
  const parts = [sort, order, minTvlFiat !== null && 'floor', scope.single ? 'chain' : `${scope.chains.length}-chains`];
  return `page-${parts.filter((part) => part !== false).join('-')}`;
}
