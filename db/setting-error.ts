import type pg from 'pg';
import { AppError } from '../config/app-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { isDatabaseUnreachable, isMissing } from './failure.ts';

/** The database is unreachable or not migrated yet. */
class DatabaseUnreachableError extends ConfigError {
  override readonly code = 'DATABASE_UNREACHABLE';
  override readonly retryable = true;
}

/** SQLSTATE of a login that may not do this, as it is not a member of the group of its process. */
const MISSING_RIGHT = '42501';
/** With those of a rejected user or password, and of a database that does not exist: a retry helps with none. */
const REJECTED_CODES = ['28000', '28P01', '3D000', MISSING_RIGHT];
/** The driver's message when the server wants a password and the URL has none. */
const NO_PASSWORD = /^SASL: /;

/**
 * Turns an error of the database into one line about the setting with its URL: the login was rejected, or the database
 * is unreachable. Our own errors are returned unchanged. Null for all others, such as a wrong query.
 *
 * @param login which login to use instead of one without a right
 */
export function databaseSettingError(error: unknown, setting: string, login?: string): AppError | null {
  if (error instanceof AppError) return error;
  const [message, code] = describe(error);
  const options = { cause: error };
  if (NO_PASSWORD.test(message)) return new ConfigError(`${setting}: the database asks for a password`, options);
  if (code === MISSING_RIGHT && login) return new ConfigError(`${setting}: ${message}: use ${login}`, options);
  if (REJECTED_CODES.includes(code)) return new ConfigError(`${setting}: ${message}`, options);
  const isNotMigrated = isMissing(error);
  if (!isNotMigrated && !isDatabaseUnreachable(error)) return null;
  const problem = isNotMigrated ? 'not migrated, "npm run migrate" does that' : 'unreachable';
  return new DatabaseUnreachableError(`${setting}: the database is ${problem} (${message})`, options);
}

/** Message and code of an error. A host name with several addresses fails with one error per address. */
function describe(error: unknown): readonly [message: string, code: string] {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return [String(first), ''];
  return [first.message || first.name, 'code' in first ? String(first.code) : ''];
}

/**
 * Logs in once, when a process starts. An unreachable database is not an error: it may be reachable later.
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
