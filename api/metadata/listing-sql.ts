import type { PoolRecord } from '../../db/listing/pool-record.ts';
import type { PoolAtReading } from '../../db/listing/show-pool.ts';
import type { ListedChain } from './listed-chains.ts';
import type { ListingQuery } from './query.ts';
import type { Sort } from './query-string.ts';

/** A statement with positional parameters; a named one is planned once per connection. */
export type Statement = { readonly text: string; readonly values: unknown[]; readonly name?: string };

/** Pools to list: those of these factories. `single`: the listing of one chain, whose indexes begin with the chain. */
export type ListingScope = { readonly single: boolean; readonly chains: readonly ListedChain[] };

/** Sort keys, first to last; each sort has an index per scope. Unknown values come last both ways. */
const SORT_KEYS: Readonly<Record<Sort, readonly string[]>> = {
  tiered: ['tier_rank', 'tvl_fiat'],
  tvl: ['tvl_fiat'],
  created: ['created_block_number'],
  volume: ['volume_fiat', 'tvl_fiat'],
  apr: ['apr_bps'],
  apr7d: ['apr_bps_7d'],
};
/** Keys that every pool has: their indexes name no place for NULL. */
const ALWAYS_KNOWN = new Set(['tier_rank', 'created_block_number']);
const TIER_RANKS: Readonly<Record<string, number>> = { green: 4, yellow: 3, red: 2 };
const DELISTED_RANK = 0;

/** The one row of {@link versionStatement}. */
export type VersionRow = {
  /** Changes whenever a page may: at each refresh, and when a chain's listing becomes too old. Null before the first. */
  readonly version: string | null;
};

/** A row of {@link pageStatement}: one per pool, with the same state in each; one without a pool when the page is empty. */
export type PageRow = VersionRow & {
  /** Count of matching pools; null when it was not asked for. */
  readonly total: string | null;
} & (({ readonly record: string } & ShownColumns) | { readonly record: null });

/** int8 comes as text; the columns of the day are there with `include24h`. */
type ShownColumns = {
  readonly status: PoolRecord['priceProviderStatus'];
  readonly analytics?: string;
  readonly tvl_fiat: string | null;
  readonly from_ts: string;
  readonly to_ts: string;
  readonly generated_at_ts: string;
  readonly from_block: string;
  readonly to_block: string;
};

/** A page's pools as they are when they are read. */
export function poolsOf(rows: readonly PageRow[]): PoolAtReading[] {
  return rows.flatMap((row) =>
    row.record === null ? [] : [{ record: row.record, status: row.status, day: dayOf(row) }],
  );
}

function dayOf(row: ShownColumns): PoolAtReading['day'] {
  if (row.analytics === undefined) return null;
  const window = {
    fromTs: Number(row.from_ts),
    toTs: Number(row.to_ts),
    generatedAtTs: Number(row.generated_at_ts),
    fromBlock: Number(row.from_block),
    toBlock: Number(row.to_block),
  };
  return { analytics: row.analytics, window, tvlFiat: row.tvl_fiat };
}

/** Whether a chain's row of `operator.listing_window`, as `w`, is too old for its price statuses to count. */
const isStale = (maxAge: string) => `w.generated_at_ts <= extract(epoch FROM now()) - ${maxAge}::int8`;

/** Number and second of the refresh (numbers start anew with a new database), then the chains that are too old. */
const versionOf = (maxAge: string) => `(
  SELECT max(w.generation) || '@' || max(w.generated_at_ts) || ':' || coalesce(string_agg(w.chain_id::text, ',' ORDER BY w.chain_id)
    FILTER (WHERE ${isStale(maxAge)}), '') FROM operator.listing_window w) AS version`;

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
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
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
  const total = withTotal ? `(SELECT count(*) FROM operator.pool_listing WHERE ${conditions})` : 'NULL::int8';
  // The planner must know how few rows a page has; the start of the usual page is a literal for the same reason.
  const range = `LIMIT ${query.count} OFFSET ${query.offset === 0 ? 0 : bind(query.offset)}`;
  const maxAge = bind(maxAgeSecs);
  const text = `
    SELECT ${versionOf(maxAge)}, ${total} AS total, page.*
    FROM (SELECT) state LEFT JOIN (
      SELECT l.position, r.record, CASE WHEN ${isStale(maxAge)} THEN 'unknown' ELSE l.price_status END AS status
             ${query.include24h ? DAY_COLUMNS : ''}
      FROM (
        SELECT chain_id, pool, price_status, tvl_fiat, row_number() OVER (ORDER BY ${order}) AS position
        FROM operator.pool_listing WHERE ${conditions} ORDER BY ${order} ${range}
      ) l
      JOIN operator.listed_pool r USING (chain_id, pool)
      JOIN operator.listing_window w USING (chain_id)
    ) page ON true
    ORDER BY page.position`;
  return { text, values, ...(isUsual(query) && { name: statementName(query, scope, withTotal) }) };
}

const DAY_COLUMNS = `, r.analytics, l.tvl_fiat::text, w.from_ts, w.to_ts, w.generated_at_ts, w.from_block, w.to_block`;

function matching(query: ListingQuery, { chains }: ListingScope): { conditions: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const ofChain = ({ chainId, factories }: ListedChain) =>
    `(chain_id = ${bind(chainId)} AND factory = ANY (${bind(factories)}::text[]))`;
  const ranks = query.tiers?.map((tier) => TIER_RANKS[tier]);
  const conditions = [
    chains.length > 0 ? `(${chains.map(ofChain).join(' OR ')})` : 'false',
    `tier_rank ${query.delistedOnly ? '=' : '<>'} ${DELISTED_RANK}`,
    ranks && `tier_rank = ANY (${bind(ranks)}::int2[])`,
    query.minTvlFiat !== null && `tvl_fiat >= ${bind(query.minTvlFiat)}`,
    query.lockedPricingOnly && 'locked_pricing',
    query.depositAllowlistOnly && 'deposit_allowlist',
    query.addresses && `pool = ANY (${bind(query.addresses)})`,
  ];
  return { conditions: conditions.filter((condition) => typeof condition === 'string').join(' AND '), values };
}

/** A total order: ties end at the address, which is unique on its chain. */
function orderBy({ sort, order }: ListingQuery, scope: ListingScope): string {
  const keys = SORT_KEYS[sort].map((key) => `${key} ${order}${ALWAYS_KNOWN.has(key) ? '' : ' NULLS LAST'}`);
  return [...keys, ...(scope.single ? [] : ['chain_id']), 'pool'].join(', ');
}

/** First pages of the default length without a rare filter: few enough texts to keep a plan for each. */
function isUsual(query: ListingQuery): boolean {
  const { count, offset, addresses, tiers, contractVersion, lockedPricingOnly, depositAllowlistOnly, delistedOnly } =
    query;
  const filters = [addresses, tiers, contractVersion, lockedPricingOnly || null, depositAllowlistOnly || null];
  return count === 50 && offset === 0 && !delistedOnly && filters.every((filter) => filter === null);
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
