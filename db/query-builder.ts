import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { Queryable } from './transaction.ts';

/** Typed queries over the definitions of `db/schema/`, on a connection or a pool. */
export function queriesOn(database: Queryable): NodePgDatabase {
  // Drizzle uses only `query` of its client, except to begin a transaction.
  return drizzle({ client: database as pg.Pool });
}
