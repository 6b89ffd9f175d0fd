import type { PoolAtReading } from '../../db/listing/show-pool.ts';
import { listedPools, listingPrices, listingWindows, poolListings, priceHealth } from '../../db/schema/operator.ts';
import { columnNames, tableName } from '../../db/sql-names.ts';
import { isStale, type PagePools, type Statement, type VersionRow, versionOf } from './listing-sql.ts';

const PRICE = tableName(listingPrices);
const pool = columnNames(listedPools);
const listing = columnNames(poolListings);
const window = columnNames(listingWindows);
const price = columnNames(listingPrices);
const health = columnNames(priceHealth);

type ListedPool = typeof listedPools.$inferSelect;

/** A row of {@link showStatement}: one per pool, with the same version in each; one without a pool when there is none. */
export type ShownRow = VersionRow &
  ((ShownColumns & (DayColumns | { readonly analytics?: undefined })) | { readonly record: null });

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
export function poolsOf(rows: readonly ShownRow[]): PoolAtReading[] {
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

/**
 * What is shown of these pools, in their order. It has one text for all pages, so that its many joins are planned once.
 *
 * @param maxAgeSecs a price status read longer ago is `unknown`, as is every one in a listing that was refreshed longer ago
 */
export function showStatement(pools: PagePools, include24h: boolean, maxAgeSecs: number): Statement {
  const text = `
    SELECT ${versionOf('$2')}, page.*
    FROM (SELECT) state LEFT JOIN (
      SELECT k.position, r.${pool.record} AS record,
             r.${pool.token0} IS NOT NULL AS "isPriced", p0.${price.usd} AS usd0, p1.${price.usd} AS usd1,
             CASE WHEN ${isStale('$2')} THEN 'unknown' ELSE coalesce(h.${health.status}, 'unknown') END AS status
             ${include24h ? DAY_COLUMNS : ''}
      FROM (
        SELECT split_part(id, ':', 1)::int8 AS chain_id, split_part(id, ':', 2) AS pool, position
        FROM unnest($1::text[]) WITH ORDINALITY keys (id, position)
      ) k
      JOIN ${tableName(listedPools)} r ON r.${pool.chainId} = k.chain_id AND r.${pool.pool} = k.pool
      JOIN ${tableName(listingWindows)} w ON w.${window.chainId} = k.chain_id
      ${include24h ? DAY_JOIN : ''}
      LEFT JOIN ${tableName(priceHealth)} h ON h.${health.chainId} = k.chain_id AND h.${health.pool} = k.pool
        AND h.${health.capturedAt} > now() - make_interval(secs => $2::int8)
      LEFT JOIN ${PRICE} p0 ON p0.${price.chainId} = k.chain_id AND p0.${price.token} = r.${pool.token0}
      LEFT JOIN ${PRICE} p1 ON p1.${price.chainId} = k.chain_id AND p1.${price.token} = r.${pool.token1}
    ) page ON true
    ORDER BY page.position`;
  return { name: include24h ? 'page-24h' : 'page', text, values: [pools, maxAgeSecs] };
}

/** The driver gives float8 as numbers, and int8 as text. */
const DAY_COLUMNS = [
  `, r.${pool.analytics} AS analytics, l.${listing.tvlFiat}::text AS "tvlFiat"`,
  ...WINDOW_FIELDS.map((field) => `w.${window[field]}::float8 AS "${field}"`),
].join(', ');
const DAY_JOIN = `
      JOIN ${tableName(poolListings)} l ON l.${listing.chainId} = k.chain_id AND l.${listing.pool} = k.pool`;
