import pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import { announceIndex } from '../../db/first-index.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { pause } from '../../runtime/pause.ts';
import { viewQueries } from './view-queries.ts';

/** Readers use the views of this schema: they follow the index that serves. */
export const LIVE_SCHEMA = 'live';

/**
 * Longest wait for one view. Short as a rule, since a deadlock with a busy reader is best left quickly; now and then long
 * enough to outlast readers that relieve one another. Always below `deadlock_timeout` (1 s), so that no reader ever loses
 * a deadlock to the switch.
 */
const lockTimeoutMs = (attempt: number) => (attempt % 5 === 4 ? 300 : 15);
const PAUSE_MS = 15;
const DEFAULT_LIMIT_MS = 60_000;
/** SQLSTATE: lock not available, deadlock detected. */
const BUSY_CODES = ['55P03', '40P01'];
/** SQLSTATE class of what is not there, or of another type. */
const WRONG_NAME_CLASS = '42';

/** Readers held the views for so long that they could not be switched. Nothing has changed. */
export class ViewsBusyError extends AppError {
  readonly code = 'VIEWS_BUSY';
  readonly retryable = true;
}

/** The read model does not fit the tables of an index, which has not been served. */
export class ReadModelMismatchError extends AppError {
  readonly code = 'READ_MODEL_MISMATCH';
  readonly retryable = false;
}

/**
 * Turns the views of {@link LIVE_SCHEMA} to the tables of another index, all at once: a reader sees the old ones or the
 * new ones, within a transaction the same ones, and no error. The switch gives way to readers: it waits for a view in
 * short steps and lets go of all of them in between.
 *
 * @param alongside further changes in the same transaction
 * @throws ViewsBusyError when readers leave no gap within `limitMs`
 * @throws ReadModelMismatchError when a view would fail on the new tables: those of another release, for example
 */
export async function serveSchema(
  database: pg.Pool,
  schema: string,
  alongside: (client: Queryable) => Promise<unknown> = async () => undefined,
  limitMs: number = DEFAULT_LIMIT_MS,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await inTransaction(database, 'READ COMMITTED', async (client) => {
        await replaceViews(client, schema, lockTimeoutMs(attempt));
        await checkReadModel(client);
        await announceIndex(client);
        await alongside(client);
      });
    } catch (cause) {
      if (!(cause instanceof pg.DatabaseError && BUSY_CODES.includes(cause.code ?? ''))) throw cause;
      if (Date.now() > deadline) {
        throw new ViewsBusyError(`readers kept the views of "${LIVE_SCHEMA}" busy for ${limitMs / 1_000} s`, { cause });
      }
      await pause(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

/** Few round trips: readers wait from the first view that is dropped to the commit. */
async function replaceViews(client: Queryable, schema: string, waitMs: number): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${LIVE_SCHEMA}`);
  // In another order each time: in any fixed one, busy readers may be in the way again and again.
  const old = await namesOf(
    client,
    'SELECT viewname AS name FROM pg_views WHERE schemaname = $1 ORDER BY random()',
    LIVE_SCHEMA,
  );
  // What starts so holds Ponder's record of blocks that may yet be undone.
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
 * Plans every view of the read model over the index: they name its tables as text, which nothing else would check. Others
 * are not the indexer's to read.
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

/** @throws ReadModelMismatchError when a table or column is not there, or is another */
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
