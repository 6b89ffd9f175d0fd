/**
 * SQLSTATE classes: connection lost; undone in favour of another transaction, as a replica undoes a query that holds up
 * what the primary sends; out of resources; stopped by the operator or a time limit.
 */
const AWAY_CLASSES = ['08', '40', '53', '57'];
/** The schema is not there yet: nothing has been migrated, or no index is complete. */
const NOT_READY_CODES = ['3F000', '42P01', '42883'];
const NETWORK_CODE = /^(ECONN[A-Z]+|E(HOST|NET)[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+)$/;
const DRIVER_MESSAGES = /timeout|Connection terminated|not queryable|Cannot use a pool/i;

/** True when a query failed because the database is away, busy or not ready, as opposed to a wrong query. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (error.cause !== undefined && isDatabaseAway(error.cause)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null) return DRIVER_MESSAGES.test(error.message);
  if (AWAY_CLASSES.includes(code.slice(0, 2)) || NOT_READY_CODES.includes(code)) return true;
  // A socket file that is missing has the code of any file.
  return NETWORK_CODE.test(code) || ('syscall' in error && error.syscall === 'connect');
}
