import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Logger } from '../runtime/logger.ts';
import { actAs, type SessionRole, withOptions } from './process-roles.ts';

export type Database = NodePgDatabase & { readonly $client: pg.Pool };

/** Longest wait for a connection, then for the result of a statement, before the database counts as unreachable. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A new connection costs both sides about 10 ms of hashing, so connections stay open from one burst to the next. */
const IDLE_TIMEOUT_MS = 5 * 60_000;

/** Options of connections for short statements: workers take other cores, and compiling costs more than it saves. */
export const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off -c effective_io_concurrency=0';

export interface DatabaseOptions {
  /** Most connections held at once. Default: 10. */
  readonly max?: number;
  /** Settings of each session, as in {@link SHORT_STATEMENTS}. Default: those of the server. */
  readonly settings?: string | undefined;
  /** Longest time of a statement. Default: 10 s. */
  readonly statementTimeoutMs?: number | undefined;
}

/**
 * Opens a pool of connections that recovers by itself: it logs a lost connection, and the next query replaces it.
 *
 * @param url `postgres://` URL
 * @param role role that its sessions act as
 */
export function openDatabase(
  url: string,
  role: SessionRole,
  logger: Logger,
  { max = 10, settings = '', statementTimeoutMs = STATEMENT_TIMEOUT_MS }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: withOptions(actAs(url, role), settings),
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    // A server that hangs does not enforce its own timeout.
    query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
  });
  pool.on('error', (error) => logger.warn({ err: error }, 'database connection lost'));
  return drizzle({ client: pool });
}
