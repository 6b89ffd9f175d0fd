import type { ListingQuery, Sort } from './query.ts';

/** A statement with positional parameters. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** Chains to list. `single` says whether it is the listing of one chain, whose indexes begin with the chain. */
export type ChainScope = { readonly single: boolean; readonly chainIds: readonly number[] };

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

/** What a row of {@link pageStatement} holds; all but the first two are NULL in the one row of an empty page. */
export type PageRow = {
  /** Number of the refresh that the page comes from; null before the first. */
  readonly generation: string | null;
  /** Count of matching pools; null when it was not asked for. */
  readonly total: string | null;
  readonly record: string | null;
  readonly status: string;
  /** The rest only with `include24h`. */
  readonly tvl_fiat: number | null;
  readonly analytics: string;
  readonly window: string;
};

/**
 * One page and, with `withTotal`, the count of all matching pools in the same snapshot.
 *
 * @param statusMaxAgeSecs a price status read longer ago is `unknown`
 */
export function pageStatement(
  query: ListingQuery,
  scope: ChainScope,
  statusMaxAgeSecs: number,
  withTotal: boolean,
): Statement {
  const { conditions, values } = matching(query, scope);
  const bind = (value: unknown) => `$${values.push(value)}`;
  const order = orderBy(query, scope);
  const columns = [...new Set([...SORT_KEYS[query.sort], 'tvl_fiat'])];
  const total = withTotal ? `(SELECT count(*) FROM operator.pool_listing WHERE ${conditions})` : 'NULL';
  const text = `
    WITH page AS (
      SELECT chain_id, pool, ${columns.join(', ')} FROM operator.pool_listing
      WHERE ${conditions} ORDER BY ${order} LIMIT ${bind(query.count)} OFFSET ${bind(query.offset)}
    )
    SELECT listing.generation, listing.total, shown.*
    FROM (SELECT (SELECT max(generation) FROM operator.listing_window) AS generation, ${total} AS total) listing
    LEFT JOIN LATERAL (
      SELECT r.record::text AS record,
             CASE WHEN h.captured_at > now() - make_interval(secs => ${bind(statusMaxAgeSecs)}) THEN h.status
                  ELSE 'unknown' END AS status
             ${query.include24h ? DAY_COLUMNS : ''}
      FROM page
      JOIN operator.pool_record r USING (chain_id, pool)
      LEFT JOIN operator.price_health h USING (chain_id, pool)
      ${query.include24h ? 'JOIN operator.listing_window w USING (chain_id)' : ''}
      ORDER BY ${order}
    ) shown ON true`;
  return { text, values };
}

const DAY_COLUMNS = `, tvl_fiat, r.analytics::text AS analytics,
  format('"fromTs":%s,"toTs":%s,"generatedAtTs":%s,"fromBlock":%s,"toBlock":%s',
         w.from_ts, w.to_ts, w.generated_at_ts, w.from_block, w.to_block) AS window`;

function matching(query: ListingQuery, scope: ChainScope): { conditions: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const [onlyChain] = scope.chainIds;
  const conditions = [
    scope.single ? `chain_id = ${bind(onlyChain)}` : `chain_id = ANY (${bind(scope.chainIds)}::int8[])`,
    query.delistedOnly ? "tier = 'black'" : "tier <> 'black'",
    query.tiers && `tier = ANY (${bind(query.tiers)})`,
    query.minTvlFiat !== null && `tvl_fiat >= ${bind(query.minTvlFiat)}`,
    query.lockedPricingOnly && 'locked_pricing',
    query.depositAllowlistOnly && 'deposit_allowlist',
    query.contractVersion !== null && `contract_version = ${bind(query.contractVersion)}`,
    query.addresses && `pool = ANY (${bind(query.addresses)})`,
  ];
  return { conditions: conditions.filter((condition) => typeof condition === 'string').join(' AND '), values };
}

/** A total order: ties end at the address, which is unique on its chain. */
function orderBy({ sort, order }: ListingQuery, scope: ChainScope): string {
  const keys = SORT_KEYS[sort].map((key) => `${key} ${order}${ALWAYS_KNOWN.has(key) ? '' : ' NULLS LAST'}`);
  return [...keys, ...(scope.single ? [] : ['chain_id']), 'pool'].join(', ');
}
