import { type BulkheadPolicy, bulkhead, isBulkheadRejectedError } from 'cockatiel';
import type pg from 'pg';
import { isTemporaryFailure } from '../db/failure.ts';
import { inTransaction, type Queryable } from '../db/transaction.ts';
import { perObject } from '../runtime/per-object.ts';
import { unavailable } from './errors.ts';

/** Anyone can invent such reads. A flood of them occupies two connections of ten, and only delays such reads. */
const AT_ONCE = 2;
const MAX_WAITING = 200;
const MAX_WAIT_MS = 2_000;
/** Far more than a page of 100,000 pools takes on a busy machine. */
export const STATEMENT_TIMEOUT_MS = 2_000;

/** The turns of a database, which all its reads share that are not served from memory. */
const turnsOf = perObject((_database: pg.Pool): BulkheadPolicy => bulkhead(AT_ONCE, MAX_WAITING));

/**
 * Waits for a turn, then reads from one snapshot of a database. For reads that anyone can invent. Work on the rows
 * belongs in `read` as well, since it also takes time from other requests.
 *
 * @throws ApiError 503 when too many reads wait, or the database is unreachable, has no index yet or takes too long
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

/** The error of a failed read: 503 when the database is unreachable, has no index yet or takes too long. */
export const readFailure = async (error: unknown, database: pg.Pool): Promise<unknown> =>
  (await isTemporaryFailure(error, database)) ? unavailable(error) : error;
