import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { unavailable } from '../errors.ts';
import type { ReadyBody } from '../http/ready-body.ts';
import { type VersionRow, versionStatement } from '../listing/listing-sql.ts';
import { readFailure, readInTurn } from '../read-in-turn.ts';

/** Memory for pages. A page of default length takes about 250 kB, compressed form included. */
const MAX_PAGE_BYTES = 64_000_000;
/** Most counted requests. Keys are hashes: an entry takes about 200 bytes, however long the request was. */
const MAX_REQUESTS = 1_000;

/** A page counts as current for this long after the database said that the listing has not changed. */
const CONFIRMED_MS = 1_000;

/** A page of the listing, ready to be sent. */
export interface Page {
  readonly body: ReadyBody;
  /** Whether the listing was the same at most `CONFIRMED_MS` ago. */
  readonly isCurrent: () => boolean;
}

/** What a client requests of the listing. */
export interface PageRequest {
  /** Tells it from all other requests, as JSON. */
  readonly name: unknown;
  /** Whether it is one of the few that most clients send; others wait for each other. */
  readonly isCommon: boolean;
  /** Makes the page from one snapshot of the database, and so from one version of the listing. */
  readonly make: (client: Queryable) => Promise<ReadyBody>;
}

/**
 * Creates a cache of all pages that are made from the listing. It queries the version of the listing each time. While
 * the version stays the same, it serves a page from memory, or waits for a page that is being made.
 *
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
 * @returns reads a page; throws ApiError 503 when the database is unreachable or takes too long,
 * or the listing was never computed
 */
export function createVersionedPages(
  database: pg.Pool,
  maxAgeSecs: number,
  now: Clock,
): (request: PageRequest) => Promise<Page> {
  const versionQuery = versionStatement(maxAgeSecs);
  const pages = createPageCache();
  // An uncommon page is kept from its second request on: pages of a flood, requested once each, would fill the cache.
  const requested = new LRUCache<string, number>({ max: MAX_REQUESTS });

  /** The newest version, and when it was queried: a later query may answer first. */
  let confirmed = { version: '', at: Number.NEGATIVE_INFINITY };
  const readVersion = async (): Promise<string> => {
    const at = now();
    const { rows } = await database.query<VersionRow>(versionQuery);
    const version = versionIn(rows[0] as VersionRow);
    if (at >= confirmed.at) confirmed = { version, at };
    return version;
  };

  const readPage = async ({ name, isCommon, make }: PageRequest): Promise<Page> => {
    const version = await readVersion();
    const id = hashOf(name);
    requested.set(id, (requested.get(id) ?? 0) + 1);
    // If a refresh comes before the page is read, the page is newer than its key, but no later request has that key.
    const read = () => (isCommon ? inTransaction(database, 'REPEATABLE READ', make) : readInTurn(database, make));
    const keepMs = () => (isCommon || requested.get(id) !== 1 ? Number.POSITIVE_INFINITY : 0);
    const body = await pages.get(`${version} ${id}`, read, keepMs);
    const isCurrent = () => confirmed.version === version && now() - confirmed.at < CONFIRMED_MS;
    return { body, isCurrent };
  };

  return async (request) => {
    try {
      return await readPage(request);
    } catch (error) {
      throw await readFailure(error, database);
    }
  };
}

/** Creates the cache of pages, by version and request. When memory is full, the least recently requested leave. */
export const createPageCache = (maxSize = MAX_PAGE_BYTES) =>
  // Twice the body is more than body and compressed form take together, unless the body is almost empty.
  new ResultCache<ReadyBody>(maxSize, ({ length }, key) => 2 * length + key.length + 1_000);

/** @throws ApiError 503 before the first refresh */
export function versionIn({ version }: VersionRow): string {
  if (version === null) throw unavailable(new Error('the listing has not been computed yet'));
  return version;
}

/** A short name of any value that JSON can express. */
export const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url');
