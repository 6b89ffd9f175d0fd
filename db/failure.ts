import pg from 'pg';
import type { Queryable } from './transaction.ts';

/**
 * SQLSTATE classes: 08, connection lost; 40, rolled back in favour of another transaction, as when a replica cancels a
 * query that delays changes from the primary; 53, out of resources; 57, stopped by the operator or a timeout.
 */
const UNREACHABLE_CLASSES = ['08', '40', '53', '57'];
/** Lock not available, deadlock detected. */
const BUSY_CODES = ['55P03', '40P01'];
/** A schema, table or function that does not exist. */
const MISSING_CODES = ['3F000', '42P01', '42883'];
/**
 * An invalid value of a parameter: of `role`, as a rule, a group (`process-roles.ts`) that no migration has made yet.
 */
const INVALID_VALUE_CODE = '22023';
const GROUP = /\b(ptd_\w+|analyst)\b/;
/**
 * A name in a message of Postgres, which has no field for that of a missing relation or role. The language is a setting
 * of the server, and changes words and quotation marks.
 */
const QUOTED = /["«»„“”]\s*([^"«»„“”]+?)\s*["«»„“”]/;
const NETWORK_CODE = /^(ECONN[A-Z]+|E(HOST|NET)[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+)$/;
/** What the driver (`pg`, `pg-pool`) throws without a code when there is no connection, or no answer in time. */
const WITHOUT_CODE = new Set([
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Query read timeout',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]);

/**
 * Whether a query may succeed when it is retried later:
 * 1. The database is unreachable or busy.
 * 2. The database is not migrated yet, or has no index yet. Once an index is published, a missing table or function is
 *    a defect. If the table exists by now, the index was published just after the query failed, and a retry helps.
 *
 * @param database where the query ran
 */
export async function isTemporaryFailure(error: unknown, database: Queryable): Promise<boolean> {
  return isDatabaseUnreachable(error) || (isMissing(error) && !(await isMissingInIndex(error, database)));
}

/** True when a query failed because the database is unreachable or busy, as opposed to a wrong query. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnreachable);
  if (error.cause !== undefined && isDatabaseUnreachable(error.cause)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null) return WITHOUT_CODE.has(error.message);
  if (UNREACHABLE_CLASSES.includes(code.slice(0, 2))) return true;
  // A missing socket file has the same code as any missing file.
  return NETWORK_CODE.test(code) || ('syscall' in error && error.syscall === 'connect');
}

/** Whether a statement failed because other sessions held what it locks. */
export const isLockBusy = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && BUSY_CODES.includes(error.code ?? '');

/** Says in a few words, without secrets, why a trivial query failed. */
export function describeFailure(error: unknown): string {
  if (isDatabaseUnreachable(error)) return 'Postgres is unreachable';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return `Postgres rejects queries${code === null ? '' : ` (${code})`}`;
}

/** True when a query named a schema, table or function, or its session a group, that does not exist. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isMissing(error.cause)) return true;
  const code = 'code' in error ? String(error.code) : '';
  return MISSING_CODES.includes(code) || (code === INVALID_VALUE_CODE && GROUP.test(error.message));
}

/** Whether a published index lacks what an error misses. Also false when the database does not respond. */
async function isMissingInIndex(error: unknown, database: Queryable): Promise<boolean> {
  try {
    const { rows } = await database.query(
      "SELECT WHERE to_regclass('live._ponder_checkpoint') IS NOT NULL AND to_regclass($1) IS NULL",
      [missingRelation(error)],
    );
    return rows.length > 0;
  } catch {
    return false;
  }
}

/** The missing relation that an error of Postgres names, as the query wrote it; null when something else is missing. */
function missingRelation(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const isOfRelation = 'code' in error && error.code === '42P01';
  return isOfRelation ? (QUOTED.exec(error.message)?.[1] ?? null) : missingRelation(error.cause);
}
