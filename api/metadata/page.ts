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
 * Reads pages from the ready listing. A total is counted once per filter and refresh; it always belongs to the refresh
 * that the page shows.
 *
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
 * @throws ApiError 503 when the database is away or the listing was never computed
 */
export function createPageReader(database: pg.Pool, maxAgeSecs: number): ReadPage {
  const totals = new LRUCache<string, { readonly generation: string; readonly total: number }>({ max: MAX_TOTALS });

  const select = async (query: ListingQuery, scope: ChainScope, withTotal: boolean): Promise<PageRow> => {
    const { rows } = await database.query<PageRow>(pageStatement(query, scope, maxAgeSecs, withTotal));
    const row = rows[0];
    if (!row || row.generation === null) throw unavailable(new Error('the listing has not been computed yet'));
    return row;
  };

  const read: ReadPage = async (query, scope) => {
    const filter = filterKey(query, scope);
    const known = totals.get(filter);
    const page = known && (await select(query, scope, false));
    if (page && page.generation === known.generation) return renderPage(page, query, known.total);
    const counted = await select(query, scope, true);
    const total = Number(counted.total);
    totals.set(filter, { generation: String(counted.generation), total });
    return renderPage(counted, query, total);
  };

  return async (query, scope) => {
    try {
      return await read(query, scope);
    } catch (error) {
      throw isDatabaseAway(error) ? unavailable(error) : error;
    }
  };
}

function filterKey(query: ListingQuery, scope: ChainScope): string {
  const { count, offset, sort, order, include24h, ...filter } = query;
  return JSON.stringify([scope.chainIds, filter]);
}

function renderPage({ records, count }: PageRow, query: ListingQuery, total: number): string {
  const end = query.offset + Number(count);
  const nextOffset = Number(count) > 0 && end < total ? end : null;
  return `{"data":[${records ?? ''}],"total":${total},"nextOffset":${nextOffset}}`;
}
