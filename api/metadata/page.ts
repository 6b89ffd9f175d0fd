import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { showPool } from '../../db/listing/show-pool.ts';
import { unavailable } from '../errors.ts';
import {
  type FoundRow,
  findStatement,
  isUsual,
  type ListingScope,
  type Statement,
  type VersionRow,
  versionStatement,
} from './listing-sql.ts';
import { createPageCache, RenderedPage } from './page-cache.ts';
import type { ListingQuery } from './query.ts';
import { poolsOf, type ShownRow, showStatement } from './shown-sql.ts';

/** Default of `maxTotals`. */
const MAX_TOTALS = 200;

export type PageReaderDeps = {
  readonly database: pg.Pool;
  /** Where pages are read that are not among the usual ones: a flood of them takes no other connection. */
  readonly rarePages: pg.Pool;
  /** In a listing that was refreshed longer ago, every price status is `unknown`. */
  readonly maxAgeSecs: number;
  /** Different filters whose totals are remembered between two refreshes. */
  readonly maxTotals?: number | undefined;
  /** Memory for pages that were made. */
  readonly maxCacheBytes?: number | undefined;
};

/** Answers a page of the listing, ready to be sent. */
export type ReadPage = (query: ListingQuery, scope: ListingScope) => Promise<RenderedPage>;

/**
 * Reads pages from the ready listing. The database is asked each time, but for as long as it says that the listing has
 * not changed, a page that was made before is sent again, and one that is being made is waited for.
 *
 * @throws ApiError 503 when the database is unreachable or takes too long, or the listing was never computed
 */
export function createPageReader(deps: PageReaderDeps): ReadPage {
  const listing = openListing(deps);
  const pages = createPageCache(deps.maxCacheBytes);
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
      throw (await isTemporaryFailure(error, deps.database)) ? unavailable(error) : error;
    }
  };
}

/**
 * The listing as the database has it. A total is counted once per filter and version, however many pages of the filter are
 * asked for at once; it always belongs to the version that the page shows.
 */
function openListing({ database, rarePages, maxAgeSecs, maxTotals = MAX_TOTALS }: PageReaderDeps) {
  const totals = new LRUCache<string, { readonly version: string; readonly total: number }>({ max: maxTotals });
  const counting = new Map<string, Promise<RenderedPage>>();

  const select = async <Row extends VersionRow>(from: pg.Pool, statement: Statement) => {
    const { rows } = await from.query<Row>(statement);
    const first = rows[0];
    if (!first || first.version === null) throw unavailable(new Error('the listing has not been computed yet'));
    return { rows, first, version: first.version };
  };
  // Two statements, and again when a refresh came between them.
  const selectPage = async (query: ListingQuery, scope: ListingScope, withTotal: boolean) => {
    const from = isUsual(query) ? database : rarePages;
    for (;;) {
      const { first, version } = await select<FoundRow>(from, findStatement(query, scope, maxAgeSecs, withTotal));
      const { total, pools } = first;
      if (pools.length === 0) return { version, total, rows: [] };
      const shown = await select<ShownRow>(from, showStatement(pools, query.include24h, maxAgeSecs));
      if (shown.version === version) return { version, total, rows: shown.rows };
    }
  };

  const countedPage = async (query: ListingQuery, scope: ListingScope, filter: string): Promise<RenderedPage> => {
    const page = await selectPage(query, scope, true);
    const total = Number(page.total);
    totals.set(filter, { version: page.version, total });
    return renderPage(page, query, total);
  };

  return {
    version: async (): Promise<string> => (await select(database, versionStatement(maxAgeSecs))).version,
    /** @param version the last that was seen: the page is of this one or a later one */
    page: async (query: ListingQuery, scope: ListingScope, version: string): Promise<RenderedPage> => {
      const filter = filterKey(query, scope);
      await counting.get(filter)?.catch(() => undefined);
      const known = totals.get(filter);
      const page = known?.version === version ? await selectPage(query, scope, false) : null;
      if (known && page?.version === version) return renderPage(page, query, known.total);
      const counted = countedPage(query, scope, filter).finally(() => counting.delete(filter));
      counting.set(filter, counted);
      return counted;
    },
  };
}

function filterKey(query: ListingQuery, { chains }: ListingScope): string {
  const { count, offset, sort, order, include24h, ...filter } = query;
  return JSON.stringify([chains, filter]);
}

function renderPage(
  { version, rows }: { readonly version: string; readonly rows: readonly ShownRow[] },
  query: ListingQuery,
  total: number,
): RenderedPage {
  const pools = poolsOf(rows).map(showPool);
  const end = query.offset + pools.length;
  const nextOffset = pools.length > 0 && end < total ? end : null;
  return new RenderedPage(version, `{"data":[${pools.join()}],"total":${total},"nextOffset":${nextOffset}}`);
}
