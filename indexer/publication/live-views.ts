import pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import { isLockBusy } from '../../db/failure.ts';
import { announceIndex } from '../../db/first-index.ts';
import { forgetFirstSyncs } from '../../db/first-sync.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { retryFor } from '../../runtime/retry-for.ts';
import { viewQueries } from './view-queries.ts';

/** Schema of the views that readers use. The views show the tables of the index that serves. */
export const LIVE_SCHEMA = 'live';

/**
 * Longest wait for the lock of one view, milliseconds:
 * 1. Usually 15, to leave a deadlock with a busy reader quickly.
 * 2. At every fifth attempt 300, to outlast readers that overlap without a gap.
 * 3. Always below `deadlock_timeout` (1 s): otherwise Postgres might cancel a reader to resolve the deadlock.
 */
const lockTimeoutMs = (attempt: number) => (attempt % 5 === 4 ? 300 : 15);
const PAUSE_MS = 15;
const DEFAULT_LIMIT_MS = 60_000;
/** SQLSTATE class of names that do not exist, or are of another type. */
const WRONG_NAME_CLASS = '42';

/** Readers kept the views locked until the time limit, so the views still show the previous index. */
export class ViewsBusyError extends AppError {
  readonly code = 'VIEWS_BUSY';
  readonly retryable = true;
}

/** The read model does not fit the tables of an index, so readers were not switched to it. */
export class ReadModelMismatchError extends AppError {
  readonly code = 'READ_MODEL_MISMATCH';
  readonly retryable = false;
}

/**
 * Switches the views of {@link LIVE_SCHEMA} to the tables of another index, all at once. A reader sees either the old
 * or the new tables, the same ones throughout a transaction, and gets no error. The switch gives way to readers: each
 * attempt waits briefly for a view, then releases all locks.
 *
 * @param alongside makes further changes in the same transaction
 * @throws ViewsBusyError when readers leave no gap within `limitMs`
 * @throws ReadModelMismatchError when a view would fail on the new tables, for example on those of another release
 */
export async function serveSchema(
  database: pg.Pool,
  schema: string,
  alongside: (client: Queryable) => Promise<unknown> = async () => undefined,
  limitMs: number = DEFAULT_LIMIT_MS,
): Promise<void> {
  const serve = (attempt: number) =>
    inTransaction(database, 'READ COMMITTED', async (client) => {
      await replaceViews(client, schema, lockTimeoutMs(attempt));
      await checkReadModel(client);
      await forgetFirstSyncs(client);
      await announceIndex(client);
      await alongside(client);
    });
  const pauseMs = () => PAUSE_MS * (0.5 + Math.random());
  await retryFor(serve, { limitMs, pauseMs, isPassing: isLockBusy }).catch((cause: unknown) => {
    if (!isLockBusy(cause)) throw cause;
    throw new ViewsBusyError(`readers kept the views of "${LIVE_SCHEMA}" busy for ${limitMs / 1_000} s`, { cause });
  });
}

/** Makes the views again, in few round trips: readers wait from the first dropped view to the commit. */
async function replaceViews(client: Queryable, schema: string, waitMs: number): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${LIVE_SCHEMA}`);
  // The order is random: with a fixed one, busy readers could block the switch again and again.
  const old = await namesOf(
    client,
    'SELECT viewname AS name FROM pg_views WHERE schemaname = $1 ORDER BY random()',
    LIVE_SCHEMA,
  );
  // In tables with this prefix, Ponder records how to undo blocks that are not final.
  const tables = await namesOf(
    client,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND NOT starts_with(tablename, '_reorg__')`,
    schema,
  );
  const statements = [
    `SET LOCAL lock_timeout = ${waitMs}`,
    ...(old.length > 0 ? [`DROP VIEW ${old.map(liveName).join(', ')}`] : []),
    ...[...viewQueries(schema, tables)].map(([name, query]) => `CREATE VIEW ${liveName(name)} AS ${query}`),
  ];
  await queryThatFits(client, statements);
}

/**
 * Plans every view of the read model that the indexer may read over the tables of the index. Nothing else checks the
 * tables and columns that these views name.
 */
async function checkReadModel(client: Queryable): Promise<void> {
  const views = await namesOf(
    client,
    `SELECT viewname AS name FROM pg_views
     WHERE schemaname = $1 AND has_table_privilege(format('%I.%I', schemaname, viewname), 'SELECT')`,
    'read_model',
  );
  await queryThatFits(
    client,
    views.map((name) => `SELECT FROM read_model."${name}" LIMIT 0`),
  );
}

/** @throws ReadModelMismatchError when a table or column is missing or has another type */
async function queryThatFits(client: Queryable, statements: readonly string[]): Promise<void> {
  try {
    await client.query(statements.join(';'));
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError && cause.code?.startsWith(WRONG_NAME_CLASS))) throw cause;
    const place = cause.where?.split('\n')[0] ?? 'no place given';
    const details = `${cause.message} (${place})`;
    throw new ReadModelMismatchError('the read model does not fit the new index', { details, cause });
  }
}

async function namesOf(client: Queryable, sql: string, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(sql, [schema]);
  return rows.map(({ name }) => name);
}

function liveName(name: string): string {
  return `${LIVE_SCHEMA}."${name}"`;
}
