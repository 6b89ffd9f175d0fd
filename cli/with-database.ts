import type pg from 'pg';
import { readEnvironment } from '../config/environment.ts';
import { openDatabase } from '../db/connection.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { createLogger } from '../runtime/logger.ts';

/**
 * Runs a command's work on the database of `DATABASE_URL` and closes it.
 *
 * @throws ConfigError one line when the setting is wrong, or when the database is unreachable or not migrated
 */
export async function withDatabase(work: (database: pg.Pool) => Promise<void>): Promise<void> {
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const { $client } = openDatabase(DATABASE_URL, createLogger('cli', 'silent'), 1);
  try {
    await work($client);
  } catch (cause) {
    throw databaseSettingError(cause, 'DATABASE_URL') ?? cause;
  } finally {
    await $client.end();
  }
}
