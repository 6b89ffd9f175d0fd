import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import pg from 'pg';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { runMain } from '../runtime/run-main.ts';
import { databaseSettingError } from './setting-error.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
/** `0001_name.sql`: the number orders the files, gaps are fine. */
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any fixed number: it keeps two runners on one database apart. */
const LOCK_ID = 7_203_145_901;

/**
 * Brings a database to the newest schema: runs every file of `migrations/` that has not run yet, in the order of their
 * names, each in its own transaction. A second runner waits for the first. Files are run once and never again, so a
 * released one must not be edited.
 *
 * @returns names of the files that were run
 * @throws ConfigError that names the file that failed, those before it stay applied; an error of Postgres or the driver
 */
export async function migrate(databaseUrl: string, directory: string = MIGRATIONS): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection lost between two queries is an event, which would end the process: the next query rejects with it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_ID]);
    return await runPending(client, directory);
  } finally {
    await client.end();
  }
}

async function runPending(client: pg.Client, directory: string): Promise<readonly string[]> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS operator;
    CREATE TABLE IF NOT EXISTS operator.migration (name text PRIMARY KEY, run_at timestamptz NOT NULL DEFAULT now())`);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM operator.migration');
  const done = new Set(rows.map(({ name }) => name));
  const files = (await readdir(directory)).filter((name) => FILE_NAME.test(name)).sort();
  const pending = files.filter((name) => !done.has(name));
  for (const name of pending) await runFile(client, name, await readFile(`${directory}/${name}`, 'utf8'));
  return pending;
}

async function runFile(client: pg.Client, name: string, sql: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query('INSERT INTO operator.migration (name) VALUES ($1)', [name]);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK');
    throw new ConfigError(`migration failed: ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

async function main(): Promise<void> {
  new Command('migrate')
    .description(
      'Brings the database of DATABASE_URL to the newest schema: runs every file of migrations/ once, in order.',
    )
    .addHelpText(
      'after',
      `
Settings: DATABASE_URL.
Exit codes: 0 done; 1 wrong setting, or a migration failed; 75 try again: the database is away.`,
    )
    .allowExcessArguments(false)
    .parse();
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const names = await migrate(DATABASE_URL).catch((cause: unknown) => {
    throw databaseSettingError(cause, 'DATABASE_URL') ?? cause;
  });
  for (const name of names) process.stdout.write(`ran ${name}\n`);
  if (names.length === 0) process.stdout.write('nothing to run\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runMain(main);
