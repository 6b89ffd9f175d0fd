import type pg from 'pg';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { openDatabase } from '../db/connection.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { createLogger } from '../runtime/logger.ts';

/**
 * Runs a command's work on the database of `DATABASE_URL` and closes it.
 *
 * @throws ConfigError one line when the setting is wrong or the database is away or not migrated
 */
export async function withDatabase(work: (database: pg.Pool) => Promise<void>): Promise<void> {
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const { $client } = openDatabase(DATABASE_URL, createLogger('cli', 'silent'), 1);
  try {
    await work($client);
  } catch (cause) {
    if (!isDatabaseAway(cause)) throw cause;
    throw new ConfigError(`DATABASE_URL: the database is away or not migrated (${(cause as Error).message})`, {
      cause,
    });
  } finally {
    await $client.end();
  }
}
