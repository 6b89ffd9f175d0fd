import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { showPool } from '../../db/listing/show-pool.ts';
import { unavailable } from '../errors.ts';
import {
  type ListingScope,
  type PageRow,
  pageStatement,
  poolsOf,
  type Statement,
  type VersionRow,
  versionStatement,
} from './listing-sql.ts';
import { createPageCache, RenderedPage } from './page-cache.ts';
import type { ListingQuery } from './query.ts';

/** Different filters whose totals are remembered between two refreshes. */
const MAX_TOTALS = 1_000;

/** Answers a page of the listing, ready to be sent. */
export type ReadPage = (query: ListingQuery, scope: ListingScope) => Promise<RenderedPage>;

/**
 * Reads pages from the ready listing. The database is asked each time, but for as long as it says that the listing has
 * not changed, a page that was made before is sent again, and one that is being made is waited for.
 *
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
 * @throws ApiError 503 when the database is unreachable or the listing was never computed
 */
export function createPageReader(database: pg.Pool, maxAgeSecs: number): ReadPage {
  const listing = openListing(database, maxAgeSecs);
  const pages = createPageCache();
  const making = new Map<string, Promise<RenderedPage>>();

  const make = async (key: string, reading: Promise<RenderedPage>): Promise<RenderedPage> => {
    making.set(key, reading);
    try {
      const page = await reading;
      pages.set(key, page);
      return page;
    } finally {
      if (making.get(key) === reading) making.delete(key);
    }
  };

  const read: ReadPage = async (query, scope) => {
    const key = JSON.stringify([scope, query]);
    const version = await listing.version();
    const known = pages.get(key);
    if (known?.version === version) return known;
    const shared = making.get(key);
    if (shared && (await shared).version === version) return shared;
    return make(key, listing.page(query, scope, version));
  };

  return async (query, scope) => {
    try {
      return await read(query, scope);
    } catch (error) {
      throw (await isTemporaryFailure(error, database)) ? unavailable(error) : error;
    }
  };
}

/**
 * The listing as the database has it. A total is counted once per filter and version; it always belongs to the version
 * that the page shows.
 */
function openListing(database: pg.Pool, maxAgeSecs: number) {
  const totals = new LRUCache<string, { readonly version: string; readonly total: number }>({ max: MAX_TOTALS });

  const select = async <Row extends VersionRow>(statement: Statement) => {
    const { rows } = await database.query<Row>(statement);
    const first = rows[0];
    if (!first || first.version === null) throw unavailable(new Error('the listing has not been computed yet'));
    return { rows, first, version: first.version };
  };
  const selectPage = (query: ListingQuery, scope: ListingScope, withTotal: boolean) =>
    select<PageRow>(pageStatement(query, scope, maxAgeSecs, withTotal));

  return {
    version: async (): Promise<string> => (await select(versionStatement(maxAgeSecs))).version,
    /** @param version the last that was seen: the page is of this one or a later one */
    page: async (query: ListingQuery, scope: ListingScope, version: string): Promise<RenderedPage> => {
      const filter = filterKey(query, scope);
      const known = totals.get(filter);
      const page = known?.version === version ? await selectPage(query, scope, false) : null;
      if (known && page?.version === version) return renderPage(page, query, known.total);
      const counted = await selectPage(query, scope, true);
      const total = Number(counted.first.total);
      totals.set(filter, { version: counted.version, total });
      return renderPage(counted, query, total);
    },
  };
}

function filterKey(query: ListingQuery, { chains }: ListingScope): string {
  const { count, offset, sort, order, include24h, ...filter } = query;
  return JSON.stringify([chains, filter]);
}

function renderPage(
  { version, rows }: { readonly version: string; readonly rows: readonly PageRow[] },
  query: ListingQuery,
  total: number,
): RenderedPage {
  const pools = poolsOf(rows).map(showPool);
  const end = query.offset + pools.length;
  const nextOffset = pools.length > 0 && end < total ? end : null;
  return new RenderedPage(version, `{"data":[${pools.join()}],"total":${total},"nextOffset":${nextOffset}}`);
}
