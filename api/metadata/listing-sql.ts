import { isFound, searchQuery } from '../../db/listing/search-terms.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { listedPools, listingWindows, poolListings } from '../../db/schema/operator.ts';
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
const key = columnNames(poolListings);
const pool = columnNames(listedPools);
const window = columnNames(listingWindows);

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

/** The total of a filter, of one version of the listing. */
export interface Counted {
  readonly version: string;
  readonly total: number;
}

/** The one row of {@link findStatement}. */
export type FoundRow = VersionRow & {
  /** Count of matching pools; null when it is known. */
  readonly total: string | null;
  /** The page's pools in order, each as `<chain id>:<address>`. */
  readonly pools: readonly string[];
};

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
 * @param counted the total that is known; null: none. A page in the farther half is read from the end then
 */
export function findStatement(
  query: ListingQuery,
  scope: ListingScope,
  maxAgeSecs: number,
  counted: Counted | null,
): Statement {
  const { conditions, values } = matching(query, scope);
  const bind = (value: unknown) => `$${values.push(value)}`;
  // Few pools match these, by an index. A planner that counts on matches soon would walk all pools in order instead.
  const isRead = query.search !== null || query.addresses !== null;
  const version = bind(counted?.version ?? null);
  // The planner must know how few rows a page has; the start of the usual page is a literal for the same reason.
  const range = (count: number, offset: number) => `LIMIT ${count} OFFSET ${offset === 0 ? 0 : bind(offset)}`;
  const order = orderBy(query, scope);
  const fromStart = `ARRAY(${PAGE_KEY} FROM matching ORDER BY ${order} ${range(query.count, query.offset)})`;
  const fromEnd = ({ total }: Counted) => {
    const left = Math.max(0, total - query.offset);
    const last = range(Math.min(query.count, left), Math.max(0, left - query.count));
    const page = `SELECT * FROM matching ORDER BY ${orderBy(query, scope, true)} ${last}`;
    return `CASE WHEN version = ${version} THEN ARRAY(${PAGE_KEY} FROM (${page}) page ORDER BY ${order}) ELSE ${fromStart} END`;
  };
  const text = `
    WITH matching AS ${isRead ? '' : 'NOT'} MATERIALIZED (
      SELECT ${[key.chainId, key.pool, ...SORT_KEYS[query.sort].map((field) => key[field])].join(', ')}
      FROM ${LISTING} WHERE ${conditions}
    )
    SELECT version, CASE WHEN version IS DISTINCT FROM ${version} THEN (SELECT count(*) FROM matching) END AS total,
      ${counted && 2 * query.offset > counted.total ? fromEnd(counted) : fromStart} AS pools
    FROM (SELECT ${versionOf(bind(maxAgeSecs))}) state`;
  return { text, values, ...(isUsual(query) && { name: statementName(query, scope) }) };
}

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
    // Out of the planner's sight, which would look at each of them.
    query.addresses && `${key.pool} = ANY ((SELECT ${bind(query.addresses)}::text[])::text[])`,
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
function orderBy({ sort, order }: ListingQuery, scope: ListingScope, isReversed = false): string {
  const reverse = { asc: 'desc', desc: 'asc' } as const;
  const direction = isReversed ? reverse[order] : order;
  const nulls = isReversed ? ' NULLS FIRST' : ' NULLS LAST';
  const keys = SORT_KEYS[sort].map((field) => `${key[field]} ${direction}${poolListings[field].notNull ? '' : nulls}`);
  const ties = [...(scope.single ? [] : [key.chainId]), key.pool].map((tie) => (isReversed ? `${tie} desc` : tie));
  return [...keys, ...ties].join(', ');
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
function statementName({ sort, order, minTvlFiat }: ListingQuery, scope: ListingScope) {
  const parts = [sort, order, minTvlFiat !== null && 'floor', scope.single ? 'chain' : `${scope.chains.length}-chains`];
  return `page-${parts.filter((part) => part !== false).join('-')}`;
}
