import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isDatabaseAway } from '../../db/failure.ts';
import { unavailable } from '../errors.ts';
import { type ChainScope, type PageRow, pageStatement } from './listing-sql.ts';
import type { ListingQuery } from './query.ts';

/** Different filters whose totals are remembered between two refreshes. */
const MAX_TOTALS = 1_000;

/** Answers a page of the listing as finished JSON text. */
export type ReadPage = (query: ListingQuery, scope: ChainScope) => Promise<string>;

/**
 * Reads pages from the ready listing. The records come finished from the database, so a page is put together without
 * parsing them. A total is counted once per filter and refresh; it always belongs to the refresh that the page shows.
 *
 * @throws ApiError 503 when the database is away or the listing was never computed
 */
export function createPageReader(database: pg.Pool, statusMaxAgeSecs: number): ReadPage {
  const totals = new LRUCache<string, { generation: string; total: number }>({ max: MAX_TOTALS });

  const select = async (query: ListingQuery, scope: ChainScope, withTotal: boolean) => {
    const statement = pageStatement(query, scope, statusMaxAgeSecs, withTotal);
    const { rows } = await database.query<PageRow>({ text: statement.text, values: [...statement.values] });
    return rows;
  };

  return async (query, scope) => {
    try {
      const filter = filterKey(query, scope);
      const known = totals.get(filter);
      const rows = known ? await select(query, scope, false) : [];
      if (known && rows[0]?.generation === known.generation) return renderPage(rows, query, known.total);
      return await countAndRead(filter, query, scope);
    } catch (error) {
      throw isDatabaseAway(error) ? unavailable(error) : error;
    }
  };

  async function countAndRead(filter: string, query: ListingQuery, scope: ChainScope): Promise<string> {
    const rows = await select(query, scope, true);
    const { generation, total } = rows[0] ?? { generation: null, total: null };
    if (generation === null) throw unavailable(new Error('the listing has not been computed yet'));
    totals.set(filter, { generation, total: Number(total) });
    return renderPage(rows, query, Number(total));
  }
}

function filterKey(query: ListingQuery, scope: ChainScope): string {
  const { count, offset, sort, order, include24h, ...filter } = query;
  return JSON.stringify([scope.chainIds, filter]);
}

function renderPage(rows: readonly PageRow[], query: ListingQuery, total: number): string {
  const records = rows.flatMap((row) => (row.record === null ? [] : [renderRecord(row.record, row, query.include24h)]));
  const end = query.offset + records.length;
  const nextOffset = records.length > 0 && end < total ? end : null;
  return `{"data":[${records.join(',')}],"total":${total},"nextOffset":${nextOffset}}`;
}

/** Adds to a finished record what is only known when it is read: whether its price status still counts. */
function renderRecord(record: string, row: PageRow, include24h: boolean): string {
  const open = `${record.slice(0, -1)},"priceProviderStatus":"${row.status}"`;
  if (!include24h) return `${open}}`;
  return `${open},"tvlFiat":${row.tvl_fiat},"analytics24h":{${row.window},${row.analytics.slice(1)}}`;
}
