import type { Queryable } from './transaction.ts';

/**
 * SQLSTATE classes: connection lost; undone in favour of another transaction, as a replica undoes a query that holds up
 * what the primary sends; out of resources; stopped by the operator or a time limit.
 */
const UNREACHABLE_CLASSES = ['08', '40', '53', '57'];
/** A schema, table or function that does not exist. */
const MISSING_CODES = ['3F000', '42P01', '42883'];
/** What Postgres says of the group of a process (`process-roles.ts`) before migrations made it. */
const NO_GROUP = /^role "(ptd_\w+|analyst)" does not exist/;
const NETWORK_CODE = /^(ECONN[A-Z]+|E(HOST|NET)[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+)$/;
const DRIVER_MESSAGES = /timeout|Connection terminated|not queryable|Cannot use a pool/i;

/**
 * Whether a query may succeed when it is repeated later: the database is unreachable or busy, or it is not migrated or has
 * no index yet. Once an index is published, a missing table or function is a defect. A table that exists by now is none: the
 * index was published right after the query failed.
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
  if (code === null) return DRIVER_MESSAGES.test(error.message);
  if (UNREACHABLE_CLASSES.includes(code.slice(0, 2))) return true;
  // A socket file that is missing has the code of any file.
  return NETWORK_CODE.test(code) || ('syscall' in error && error.syscall === 'connect');
}

/** True when a query named a schema, table or function that does not exist, or its session a group. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isMissing(error.cause) || NO_GROUP.test(error.message)) return true;
  return 'code' in error && typeof error.code === 'string' && MISSING_CODES.includes(error.code);
}

/** False also when the database does not answer, which is no defect either. */
async function isMissingInIndex(error: unknown, database: Queryable): Promise<boolean> {
  try {
    const { rows } = await database.query(
      `SELECT WHERE to_regclass('live._ponder_checkpoint') IS NOT NULL AND to_regclass($1) IS NULL`,
      [missingRelation(error)],
    );
    return rows.length > 0;
  } catch {
    return false;
  }
}

/** The relation that Postgres names in an error, as it was written in the query; null when something else is missing. */
function missingRelation(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const isOfRelation = 'code' in error && error.code === '42P01';
  return isOfRelation ? (/"(.+)"/.exec(error.message)?.[1] ?? null) : missingRelation(error.cause);
}
