import type pg from 'pg';
import type { Queryable } from './transaction.ts';

/**
 * Lets statements of a transaction take longer than those of a process do: Postgres ends them after this time, and
 * the client, which has a limit of its own, waits for it.
 *
 * @returns the same connection, with that limit
 */
export async function allowLongStatements(client: Queryable, limitMs: number): Promise<Queryable> {
  await client.query(`SET LOCAL statement_timeout = ${limitMs}`);
  const query = (statement: string | pg.QueryConfig, values?: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement } : statement;
    // Of a connection's options, `pg` takes this one for each query as well.
    const limited: pg.QueryConfig & { query_timeout: number } = { ...config, query_timeout: limitMs + GRACE_MS };
    return client.query(limited, values);
  };
  return { query } as Queryable;
}

/** Postgres reports its own limit before the client gives up. */
const GRACE_MS = 2_000;
