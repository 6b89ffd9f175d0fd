import { type BulkheadPolicy, bulkhead, isBulkheadRejectedError } from 'cockatiel';
import type pg from 'pg';
import { isTemporaryFailure } from '../db/failure.ts';
import { inTransaction, type Queryable } from '../db/transaction.ts';
import { perObject } from '../runtime/per-object.ts';
import { unavailable } from './errors.ts';

/** Anyone can invent such reads: a flood of them occupies two connections of ten, and waits for itself alone. */
const AT_ONCE = 2;
const MAX_WAITING = 200;
const MAX_WAIT_MS = 2_000;
/** Far above what a page of 100,000 pools takes on a busy machine. */
export const STATEMENT_TIMEOUT_MS = 2_000;

/** All reads of a database that are not answered from memory share its turns. */
const turnsOf = perObject((_database: pg.Pool): BulkheadPolicy => bulkhead(AT_ONCE, MAX_WAITING));

/**
 * Reads what anyone can invent from one snapshot of a database, when it is its turn. What is done with the rows belongs into
 * `read` as well: it takes the time of other requests, too.
 *
 * @throws ApiError 503 when too many reads wait, or when the database is unreachable, has no index yet or takes too long
 */
export async function readInTurn<T>(database: pg.Pool, read: (client: Queryable) => Promise<T>): Promise<T> {
  const lateAt = performance.now() + MAX_WAIT_MS;
  try {
    return await turnsOf(database).execute(() => {
      if (performance.now() > lateAt) throw unavailable(new Error('too many reads of the database wait'));
      return inTransaction(database, 'REPEATABLE READ', async (client) => {
        await client.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
        return read(client);
      });
    });
  } catch (error) {
    throw isBulkheadRejectedError(error) ? unavailable(error) : await readFailure(error, database);
  }
}

/** What a failed read is answered with: 503 when the database is unreachable, has no index yet or takes too long. */
export const readFailure = async (error: unknown, database: pg.Pool): Promise<unknown> =>
  (await isTemporaryFailure(error, database)) ? unavailable(error) : error;
