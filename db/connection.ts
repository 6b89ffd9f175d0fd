import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Logger } from '../runtime/logger.ts';
import { actAs, type SessionRole, withOptions } from './process-roles.ts';

export type Database = NodePgDatabase & { readonly $client: pg.Pool };

/** How long a request waits for a connection, and a statement for its answer, before the database counts as unreachable. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** A new connection costs both sides some ten milliseconds of hashing: those that bursts of work need stay until the next one. */
const IDLE_TIMEOUT_MS = 5 * 60_000;

/** Options of connections for short statements: workers take other cores and compiling takes longer than it saves. */
export const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off -c effective_io_concurrency=0';

/**
 * A pool of connections that heals by itself: a lost connection is logged and replaced by the next query.
 *
 * @param url `postgres://` URL
 * @param role what its sessions act as
 * @param max most connections held at once
 * @param options settings of each session
 * @param statementTimeoutMs how long a statement waits for its answer
 */
export function openDatabase(
  url: string,
  role: SessionRole,
  logger: Logger,
  max = 10,
  options = '',
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Database {
  const pool = new pg.Pool({
    connectionString: withOptions(actAs(url, role), options),
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    // A server that hangs does not keep its own time limit.
    query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
  });
  pool.on('error', (error) => logger.warn({ err: error }, 'database connection lost'));
  return drizzle({ client: pool });
}
