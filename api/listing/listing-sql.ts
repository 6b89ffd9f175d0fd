import { hash } from 'node:crypto';
import { isFound, searchQuery } from '../../db/listing/search-terms.ts';
import type { PoolAtRead } from '../../db/listing/show-pool.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import type { Sums } from '../../db/listing/trend.ts';
import {
  listedPools,
  listingPrices,
  listingWindows,
  poolListings,
  poolPersistence,
  poolTrends,
  priceHealth,
} from '../../db/schema/operator.ts';
import { columnNames, tableName } from '../../db/sql-names.ts';
import type { ListedChain } from './listed-chains.ts';
import { isCommon, type ListingQuery } from './query.ts';
import type { Sort } from './query-string.ts';

/** A statement with positional parameters. A statement with a name is planned once per connection. */
export type Statement = { readonly text: string; readonly values: unknown[]; readonly name?: string };

const LISTING = tableName(poolListings);
const RECORD = tableName(listedPools);
const WINDOW = tableName(listingWindows);
const PRICE = tableName(listingPrices);
const key = columnNames(poolListings);
const pool = columnNames(listedPools);
const window = columnNames(listingWindows);
const price = columnNames(listingPrices);
const health = columnNames(priceHealth);
const trend = columnNames(poolTrends);
const held = columnNames(poolPersistence);

/** Trends by chain and pool. One that capture has not written for a day says nothing. */
const TRENDS = `(SELECT ${trend.chainId}, ${trend.pool}, ${trend.changeE6}, ${trend.depthFiat}
  FROM ${tableName(poolTrends)} WHERE ${trend.updatedAt} > now() - interval '1 day') t`;
/** The same of whether quotes held. */
const HELD = `(SELECT ${[held.chainId, held.pool, held.medianBps, held.p95Bps, held.withdrawnShare, held.goneShare].join(', ')}
  FROM ${tableName(poolPersistence)} WHERE ${held.updatedAt} > now() - interval '1 day') q`;

/**
 * Columns of each sort order. Each order of the listing's own columns has a descending index per chain. Unknown values
 * come last in both ways.
 */
const SORT_KEYS: Readonly<Record<Sort, readonly { readonly name: string; readonly notNull: boolean }[]>> = {
  tiered: [poolListings.tierRank, poolListings.tvlFiat],
  tvl: [poolListings.tvlFiat],
  created: [poolListings.createdBlockNumber],
  volume: [poolListings.volumeFiat, poolListings.tvlFiat],
  apr: [poolListings.aprBps],
  apr7d: [poolListings.aprBps7d],
  change: [poolTrends.changeE6],
  depth: [poolTrends.depthFiat],
  // Most pools have none.
  persistence: [{ name: held.p95Bps, notNull: false }],
};

/** Figures that have a sum over all pools. */
const SUMMED = {
  tvlFiat: key.shownTvlFiat,
  volumeFiat: key.shownVolumeFiat,
  depthFiat: trend.depthFiat,
} as const;

/** A total order. It has no `NULLS LAST` for columns that are never null, as their indexes have none. */
const orderOf = ({ sort, order }: ListingQuery): string => {
  const keys = SORT_KEYS[sort].map(({ name, notNull }) => `${name} ${order}${notNull ? '' : ' NULLS LAST'}`);
  return [...keys, key.pool, key.chainId].join(', ');
};

/** Whether a chain's window, as `w`, is too old for its price statuses to count. */
const isStale = (maxAgeSecs: number) => `w.${window.generatedAtTs} <= extract(epoch FROM now()) - ${maxAgeSecs}`;

/** Number and time of the last refresh (a new database restarts the numbers), then the chains that are too old. */
const versionOf = (maxAgeSecs: number) => `(
  SELECT max(w.${window.generation}) || '@' || max(w.${window.generatedAtTs}) || ':' || coalesce(
    string_agg(w.${window.chainId}::text, ',' ORDER BY w.${window.chainId}) FILTER (WHERE ${isStale(maxAgeSecs)}), '')
  FROM ${WINDOW} w)`;

/** The row of {@link versionStatement}; null before the first refresh. */
export type VersionRow = { readonly version: string | null };

/**
 * Reads the version of the listing: pages of one version are the same. It changes with each refresh, and when a chain's
 * listing becomes too old.
 *
 * @param maxAgeSecs a listing that was refreshed longer ago is too old
 */
export const versionStatement = (maxAgeSecs: number): Statement => ({
  name: 'listing-version',
  text: `SELECT ${versionOf(maxAgeSecs)} AS version`,
  values: [],
});

/** The row of {@link findStatement}: chains and addresses of the pools of a page, in order; null for an empty page. */
export type FoundRow = VersionRow & {
  readonly chainIds: readonly string[] | null;
  readonly pools: readonly string[] | null;
};

/**
 * Finds the pools of one page in the narrow rows. It reads the first rows of each chain, as many as end the page, as a
 * range of an index. Then it merges the chains.
 */
export function findStatement(query: ListingQuery, chains: readonly ListedChain[], maxAgeSecs: number): Statement {
  const columns = SORT_KEYS[query.sort].map(({ name }) => name);
  const { matching, values } = matchingPools(query, chains, columns);
  const order = orderOf(query);
  // Both are literals, so that the planner knows how few rows are needed. They are integers that were checked.
  const { count, offset } = query;
  const ranges = chains.map(
    ({ chainId }) =>
      `(SELECT * FROM matching WHERE ${key.chainId} = ${chainId} ORDER BY ${order} LIMIT ${offset + count})`,
  );
  const text = `${matching}
    SELECT ${versionOf(maxAgeSecs)} AS version,
      array_agg(${key.chainId}) AS "chainIds", array_agg(${key.pool}::text) AS pools
    FROM (
      SELECT ${key.chainId}, ${key.pool} FROM (${ranges.join(' UNION ALL ') || 'TABLE matching'}) found
      ORDER BY ${order} LIMIT ${count} OFFSET ${offset}
    ) page`;
  return nameCommon(query, text, values);
}

/** The row of {@link countStatement}: all pools that match, and their sums if the query has the figures of 24 hours. */
export type TotalRow = { readonly total: string; readonly sums: Sums | null };

/** Counts and sums up all pools that match. */
export function countStatement(query: ListingQuery, chains: readonly ListedChain[]): Statement {
  const { matching, values } = matchingPools(query, chains, query.include24h ? Object.values(SUMMED) : []);
  // A token of an untrusted pool may have any price: bounded figures cannot overflow their sum.
  const sumOf = (column: string) => `sum(least(${column}, 1e300::float8)) FILTER (WHERE ${column} IS NOT NULL)`;
  const sums = Object.entries(SUMMED).map(([name, column]) => `'${name}', ${sumOf(column)}`);
  const shown = query.include24h ? `json_build_object(${sums.join(', ')})` : 'NULL';
  return nameCommon(query, `${matching} SELECT count(*) AS total, ${shown} AS sums FROM matching`, values);
}

const nameCommon = (query: ListingQuery, text: string, values: unknown[]): Statement =>
  isCommon(query) ? { name: `page-${hash('sha1', text)}`, text, values } : { text, values };

/** Writes the common table `matching`: keys and these columns of the pools that match. */
function matchingPools(query: ListingQuery, chains: readonly ListedChain[], columns: readonly string[]) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const ofChain = ({ chainId, factories }: ListedChain) =>
    `(${key.chainId} = ${chainId} AND ${key.factory} = ANY (${bind(factories)}::text[]))`;
  const conditions = [
    chains.length > 0 ? `(${chains.map(ofChain).join(' OR ')})` : 'false',
    `${key.tierRank} ${query.delistedOnly ? '=' : '<>'} ${TIER_RANKS.black}`,
    query.tiers && `${key.tierRank} = ANY (${bind(query.tiers.map((tier) => TIER_RANKS[tier]))}::int2[])`,
    query.minTvlFiat !== null && `${key.tvlFiat} >= ${bind(query.minTvlFiat)}`,
    query.maxPersistenceBps !== null && `${held.p95Bps} <= ${bind(query.maxPersistenceBps)}`,
    query.lockedPricingOnly && key.lockedPricing,
    query.depositAllowlistOnly && key.depositAllowlist,
    query.search !== null &&
      `(${key.chainId}, ${key.pool}) IN (SELECT ${pool.chainId}, ${pool.pool} FROM ${RECORD}
        WHERE ${isFound(pool.searchTerms, bind(searchQuery(query.search)))})`,
    // In a subquery, because the planner would look at each address that it sees.
    query.addresses && `${key.pool} = ANY ((SELECT ${bind(query.addresses)}::text[])::text[])`,
  ];
  // An index finds the few pools that match these. A planner that expects many would walk all pools in order instead.
  const isLookup = query.search !== null || query.addresses !== null;
  const matching = `WITH matching AS ${isLookup ? '' : 'NOT'} MATERIALIZED (
    SELECT ${[key.chainId, key.pool, ...columns].join(', ')} FROM ${LISTING} LEFT JOIN ${TRENDS} USING (${key.chainId}, ${key.pool})
      LEFT JOIN ${HELD} USING (${key.chainId}, ${key.pool})
    WHERE ${conditions.filter((condition) => typeof condition === 'string').join(' AND ')})`;
  return { matching, values };
}

/** A row of {@link showStatement}, with the fields of the day if they were requested. */
export type ShownRow = Omit<PoolAtRead, 'day'> & (NonNullable<PoolAtRead['day']> | { readonly analytics: null });

/**
 * Reads what is shown of these pools, in their order. All pages have the same text, so that its many joins are planned
 * once.
 *
 * @param maxAgeSecs a price status is `unknown` if it was read, or its listing refreshed, longer ago
 */
export function showStatement(found: FoundRow, include24h: boolean, maxAgeSecs: number): Statement {
  const day = `r.${pool.analytics}, l.${key.shownTvlFiat}::text AS "tvlFiat", json_build_object(
    'fromTs', w.${window.fromTs}, 'toTs', w.${window.toTs}, 'generatedAtTs', w.${window.generatedAtTs},
    'fromBlock', w.${window.fromBlock}, 'toBlock', w.${window.toBlock}) AS window,
    json_build_object('committedShare', e.committed_share, 'liveShare', e.live_share, 'ownLandedShare', e.own_landed_share,
      'sealedShare', e.sealed_share) AS executability,
    json_build_object('changeE6', t.${trend.changeE6}, 'depthFiat', t.${trend.depthFiat}) AS "trend24h",
    CASE WHEN q.${held.pool} IS NOT NULL THEN json_build_object('medianBps', q.${held.medianBps}, 'p95Bps', q.${held.p95Bps},
      'withdrawnShare', q.${held.withdrawnShare}, 'goneShare', q.${held.goneShare}) END AS "persistence24h"`;
  const dayJoin = `JOIN ${LISTING} l ON l.${key.chainId} = k.chain_id AND l.${key.pool} = k.pool
    LEFT JOIN ${TRENDS} ON t.${trend.chainId} = k.chain_id AND t.${trend.pool} = k.pool
    LEFT JOIN ${HELD} ON q.${held.chainId} = k.chain_id AND q.${held.pool} = k.pool`;
  // Hours that began in the window.
  const executed = `CROSS JOIN LATERAL read_model.executability(k.chain_id, k.pool, w.${window.fromTs} + 1, w.${window.toTs} + 1) e`;
  const gasOf = (column: string) => `CASE WHEN h.${health.gasAt} > now() - interval '1 day' THEN h.${column} END`;
  const text = `
    SELECT r.${pool.record},
      json_build_array(p0.${price.usd}, p1.${price.usd}) AS prices,
      CASE WHEN ${isStale(maxAgeSecs)} THEN 'unknown' ELSE coalesce(h.${health.status}, 'unknown') END AS status,
      json_build_object('token0In', ${gasOf(health.gasToken0In)}, 'token1In', ${gasOf(health.gasToken1In)}) AS "swapGas",
      ${include24h ? day : 'NULL AS analytics'}
    FROM unnest($1::int8[], $2::text[]) WITH ORDINALITY k (chain_id, pool, position)
    JOIN ${RECORD} r ON r.${pool.chainId} = k.chain_id AND r.${pool.pool} = k.pool
    ${include24h ? dayJoin : ''}
    JOIN ${WINDOW} w ON w.${window.chainId} = k.chain_id
    LEFT JOIN ${tableName(priceHealth)} h ON h.${health.chainId} = k.chain_id AND h.${health.pool} = k.pool
      AND h.${health.capturedAt} > now() - make_interval(secs => ${maxAgeSecs})
    LEFT JOIN ${PRICE} p0 ON p0.${price.chainId} = k.chain_id AND p0.${price.token} = r.${pool.token0}
    LEFT JOIN ${PRICE} p1 ON p1.${price.chainId} = k.chain_id AND p1.${price.token} = r.${pool.token1}
    ${include24h ? executed : ''}
    ORDER BY k.position`;
  return { name: include24h ? 'records-24h' : 'records', text, values: [found.chainIds, found.pools] };
}
