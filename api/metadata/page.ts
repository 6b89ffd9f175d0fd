import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { showPool } from '../../db/listing/show-pool.ts';
import { onConnection, type Queryable } from '../../db/transaction.ts';
import { unavailable } from '../errors.ts';
import {
  type BookmarksRow,
  bookmarksStatement,
  type Counted,
  type FoundRow,
  findStatement,
  isFar,
  isUsual,
  type ListingScope,
  NO_POOLS,
  type Statement,
  type VersionRow,
  versionStatement,
} from './listing-sql.ts';
import { createPageCache, RenderedPage } from './page-cache.ts';
import type { ListingQuery } from './query.ts';
import { poolsOf, type ShownRow, showStatement } from './shown-sql.ts';

/** Default of `maxTotals`. */
const MAX_TOTALS = 200;
/** Pages of which it is remembered that they were asked for. */
const MAX_ASKED = 1_000;

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
  // A rare page is cached from its second request: pages of a flood are requested once, and would fill the cache.
  const asked = new LRUCache<string, true>({ max: MAX_ASKED });
  const making = new Map<string, Promise<RenderedPage>>();

  const make = async (key: string, reading: Promise<RenderedPage>, isKept: boolean): Promise<RenderedPage> => {
    making.set(key, reading);
    try {
      const page = await reading;
      if (isKept) pages.set(key, page);
      await nextTurn(); // Others are answered between the steps of a page.
      return page;
    } finally {
      if (making.get(key) === reading) making.delete(key);
    }
  };

  const read: ReadPage = async (query, scope) => {
    const key = JSON.stringify([scope, query]);
    const shared = making.get(key);
    // The version is read only when something cached could have it.
    if (shared || pages.has(key) || listing.isKnown(query, scope)) {
      const version = await listing.version();
      const known = pages.get(key);
      if (known?.version === version) return known;
      const made = await (making.get(key) ?? shared);
      if (made?.version === version) return made;
    }
    const isKept = isUsual(query) || asked.has(key);
    asked.set(key, true);
    return make(key, listing.page(query, scope), isKept);
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
  const totals = new LRUCache<string, Counted>({ max: maxTotals });
  const counting = new Map<string, Promise<RenderedPage>>();
  /** The version that was told last. */
  let latest: string | undefined;

  const select = async <Row extends VersionRow>(from: Queryable, statement: Statement) => {
    const { rows } = await from.query<Row>(statement);
    const first = rows[0];
    if (!first || first.version === null) throw unavailable(new Error('the listing has not been computed yet'));
    latest = first.version;
    return { rows, first, version: first.version };
  };

  const countOf = (filter: string) => counting.get(filter)?.catch(() => undefined);

  const findPage = async (client: Queryable, query: ListingQuery, scope: ListingScope, filter: string) => {
    let known = totals.get(filter);
    if (isFar(query) && known?.version !== latest) {
      const { first, version } = await select<BookmarksRow>(client, bookmarksStatement(query, scope, maxAgeSecs));
      known = { version, total: Number(first.total), bookmarks: first.bookmarks };
      totals.set(filter, known);
    }
    const { first, version } = await select<FoundRow>(client, findStatement(query, scope, maxAgeSecs, known ?? null));
    const total = first.total === null ? (known?.total ?? 0) : Number(first.total);
    if (first.total !== null) totals.set(filter, { version, total });
    return { version, total, pools: first.pools };
  };

  // Two statements at least, and again when a refresh came between them.
  const selectPage = async (client: Queryable, query: ListingQuery, scope: ListingScope, filter: string) => {
    for (;;) {
      const { version, total, pools } = await findPage(client, query, scope, filter);
      if (pools === null) continue;
      if (pools === NO_POOLS) return renderPage({ version, rows: [] }, query, total);
      const shown = await select<ShownRow>(client, showStatement(pools, query.include24h, maxAgeSecs));
      await nextTurn();
      if (shown.version === version) return renderPage(shown, query, total);
    }
  };

  return {
    /** Whether the filter's total was asked for lately. */
    isKnown: (query: ListingQuery, scope: ListingScope): boolean => {
      const filter = filterKey(query, scope);
      return totals.has(filter) || counting.has(filter);
    },
    version: async (): Promise<string> => (await select(database, versionStatement(maxAgeSecs))).version,
    /** A page of the version that was told last or a later one. */
    page: async (query: ListingQuery, scope: ListingScope): Promise<RenderedPage> => {
      const filter = filterKey(query, scope);
      while (counting.has(filter)) await countOf(filter); // Without a connection, as far as possible.
      // What is known when a connection is free: versions may pass while a request waits for one.
      return onConnection(isUsual(query) ? database : rarePages, async (client) => {
        while (counting.has(filter)) await countOf(filter);
        const isCounted = totals.get(filter)?.version === latest;
        const page = selectPage(client, query, scope, filter).finally(() => {
          if (counting.get(filter) === page) counting.delete(filter);
        });
        if (!isCounted) counting.set(filter, page);
        return page;
      });
    },
  };
}

/** Pages of one filter share their total; far ones of one order share bookmarks as well. */
function filterKey(query: ListingQuery, { chains }: ListingScope): string {
  const { count, offset, sort, order, include24h, ...filter } = query;
  return JSON.stringify([chains, filter, ...(isFar(query) ? [sort, order] : [])]);
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
