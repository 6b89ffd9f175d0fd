import type pg from 'pg';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { openDatabase } from '../db/connection.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { createLogger } from '../runtime/logger.ts';

/** The same command may succeed later, as sysexits.h calls it. */
const TRY_AGAIN = 75;

class DatabaseAwayError extends ConfigError {
  override readonly name = 'DatabaseAwayError';
  override readonly exitCode = TRY_AGAIN;
}

/**
 * Runs a command's work on the database of `DATABASE_URL` and closes it.
 *
 * @throws ConfigError one line when the setting is wrong, or when the database is away or not migrated
 */
export async function withDatabase(work: (database: pg.Pool) => Promise<void>): Promise<void> {
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const { $client } = openDatabase(DATABASE_URL, createLogger('cli', 'silent'), 1);
  try {
    await work($client);
  } catch (cause) {
    if (!isDatabaseAway(cause)) throw cause;
    throw new DatabaseAwayError(`DATABASE_URL: the database is away or not migrated (${(cause as Error).message})`, {
      cause,
    });
  } finally {
    await $client.end();
  }
}
