import type pg from 'pg';
import { AppError } from '../config/app-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { isDatabaseUnreachable, isMissing } from './failure.ts';

/** The database is unreachable or not migrated yet. */
class DatabaseUnreachableError extends ConfigError {
  override readonly code = 'DATABASE_UNREACHABLE';
  override readonly retryable = true;
}

/**
 * SQLSTATE of a user or password that is refused, of a database that does not exist, and of a login that is no member of its
 * process's group: waiting helps none of them.
 */
const REJECTED_CODES = ['28000', '28P01', '3D000', '42501'];
/** The driver's word for a password that the server wants and the URL does not have. */
const NO_PASSWORD = /^SASL: /;

/**
 * What an error of the database says about the setting that its URL came from, in one line: the login is refused, or the
 * database is unreachable. Our own errors stay as they are; null for any other, such as a wrong query.
 */
export function databaseSettingError(error: unknown, setting: string): AppError | null {
  if (error instanceof AppError) return error;
  const [message, code] = describe(error);
  const options = { cause: error };
  if (NO_PASSWORD.test(message)) return new ConfigError(`${setting}: the database asks for a password`, options);
  if (REJECTED_CODES.includes(code)) return new ConfigError(`${setting}: ${message}`, options);
  const isNotMigrated = isMissing(error);
  if (!isNotMigrated && !isDatabaseUnreachable(error)) return null;
  const problem = isNotMigrated ? 'not migrated, "npm run migrate" does that' : 'unreachable';
  return new DatabaseUnreachableError(`${setting}: the database is ${problem} (${message})`, options);
}

/** A host name with several addresses fails with one error for each of them, and no word of its own. */
function describe(error: unknown): readonly [message: string, code: string] {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return [String(first), ''];
  return [first.message || first.name, 'code' in first ? String(first.code) : ''];
}

/**
 * Logs in once, for a process that starts. An unreachable database is no error: it may be reachable later.
 *
 * @throws ConfigError one line that names the setting when the database refuses the login
 */
export async function assertDatabaseLogin(database: pg.Pool, setting: string): Promise<void> {
  try {
    await database.query('SELECT 1');
  } catch (error) {
    const failure = databaseSettingError(error, setting);
    if (failure !== null && !failure.retryable) throw failure;
  }
}
