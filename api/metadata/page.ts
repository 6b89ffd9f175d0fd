import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { QueryResultRow } from 'pg';
import { showPool } from '../../db/listing/show-pool.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { unavailable } from '../errors.ts';
import { ReadyBody } from '../http/ready-body.ts';
import { readFailure, readInTurn } from '../read-in-turn.ts';
import {
  countStatement,
  type FoundRow,
  findStatement,
  isCommon,
  type ListedChain,
  type ShownRow,
  type Statement,
  showStatement,
  type VersionRow,
  versionStatement,
} from './listing-sql.ts';
import type { ListingQuery } from './query.ts';

/** Memory for pages. A page of default length takes about 250 kB, compressed form included. */
const MAX_PAGE_BYTES = 64_000_000;
/** Most totals and counted requests. Keys are hashes: an entry takes about 200 bytes, however long the request was. */
const MAX_ENTRIES = 1_000;

/** A page counts as current for this long after the database said that the listing has not changed. */
const CONFIRMED_MS = 1_000;

/** A page of the listing, ready to be sent. */
export interface Page {
  readonly body: ReadyBody;
  /** Whether the listing was the same at most `CONFIRMED_MS` ago. */
  readonly isCurrent: () => boolean;
}

/** Responds with a page of the listing. */
export type ReadPage = (query: ListingQuery, chains: readonly ListedChain[]) => Promise<Page>;

/**
 * Reads pages from the ready listing. It queries the version of the listing each time. While the version stays the
 * same, it serves a page from cache, or waits for a page that is being made.
 *
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
 * @throws ApiError 503 when the database is unreachable or takes too long, or the listing was never computed
 */
export function createPageReader(database: pg.Pool, maxAgeSecs: number): ReadPage {
  const versionQuery = versionStatement(maxAgeSecs);
  const pages = createPageCache();
  const totals = new ResultCache<number>(MAX_ENTRIES);
  // An uncommon page is kept from its second request on: pages of a flood, requested once each, would fill the cache.
  const requested = new LRUCache<string, number>({ max: MAX_ENTRIES });

  /** Makes a page from one snapshot of the database, and so from one version of the listing. */
  const makePage = async (client: Queryable, query: ListingQuery, chains: readonly ListedChain[]) => {
    const found = await selectOne<FoundRow>(client, findStatement(query, chains, maxAgeSecs));
    const count = async () => Number((await selectOne<{ total: string }>(client, countStatement(query, chains))).total);
    const total = await totals.get(`${versionIn(found)} ${filterKey(query, chains)}`, count);
    const shown =
      found.pools && (await client.query<ShownRow>(showStatement(found, query.include24h, maxAgeSecs))).rows;
    await nextTurn(); // Other requests are served between the steps of a page.
    return renderPage(shown ?? [], query, total);
  };

  const readCommon: RenderPage = (query, chains) =>
    inTransaction(database, 'REPEATABLE READ', (client) => makePage(client, query, chains));

  const readUncommon: RenderPage = (query, chains) => readInTurn(database, (client) => makePage(client, query, chains));

  /** The newest version, and when it was queried: a later query may answer first. */
  let confirmed = { version: '', at: Number.NEGATIVE_INFINITY };
  const readVersion = async (): Promise<string> => {
    const at = performance.now();
    const version = versionIn(await selectOne<VersionRow>(database, versionQuery));
    if (at >= confirmed.at) confirmed = { version, at };
    return version;
  };

  const readPage: ReadPage = async (query, chains) => {
    const version = await readVersion();
    const name = hashOf([chains, query]);
    requested.set(name, (requested.get(name) ?? 0) + 1);
    // If a refresh comes before the page is read, the page is newer than its key, but no later request has that key.
    const key = `${version} ${name}`;
    const read = isCommon(query) ? readCommon : readUncommon;
    const keepMs = () => (isCommon(query) || requested.get(name) !== 1 ? Number.POSITIVE_INFINITY : 0);
    const body = await pages.get(key, () => read(query, chains), keepMs);
    const isCurrent = () => confirmed.version === version && performance.now() - confirmed.at < CONFIRMED_MS;
    return { body, isCurrent };
  };

  return async (query, chains) => {
    try {
      return await readPage(query, chains);
    } catch (error) {
      throw await readFailure(error, database);
    }
  };
}

type RenderPage = (query: ListingQuery, chains: readonly ListedChain[]) => Promise<ReadyBody>;

/** Creates the cache of pages, by version and request. When memory is full, the least recently requested leave. */
export const createPageCache = (maxSize = MAX_PAGE_BYTES) =>
  // Twice the body is more than body and compressed form take together, unless the body is almost empty.
  new ResultCache<ReadyBody>(maxSize, ({ length }, key) => 2 * length + key.length + 1_000);

async function selectOne<Row extends QueryResultRow>(from: Queryable, statement: Statement): Promise<Row> {
  const { rows } = await from.query<Row>(statement);
  return rows[0] as Row;
}

function versionIn({ version }: VersionRow): string {
  if (version === null) throw unavailable(new Error('the listing has not been computed yet'));
  return version;
}

const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url');

/** The key of a total: pages with the same filter share it. */
function filterKey(
  { count, offset, sort, order, include24h, ...filter }: ListingQuery,
  chains: readonly ListedChain[],
) {
  return hashOf([chains, filter]);
}

function renderPage(rows: readonly ShownRow[], { offset }: ListingQuery, total: number): ReadyBody {
  const pools = rows.map(({ analytics, window, tvlFiat, executability, ...row }) => {
    const isRequested = analytics !== null && window !== null && executability !== null;
    return showPool({ ...row, day: isRequested ? { analytics, window, tvlFiat, executability } : null });
  });
  const end = offset + pools.length;
  const nextOffset = pools.length > 0 && end < total ? end : null;
  return new ReadyBody(joinJson({ data: pools.map((pool) => new ReadyJson(pool)), total, nextOffset }).join(''));
}
