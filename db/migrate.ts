import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { AppError } from '../config/app-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { retryFor } from '../runtime/retry-for.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { isLockBusy } from './failure.ts';
import { KEEP_ALIVE, withOptions } from './process-roles.ts';
import { queriesOn } from './query-builder.ts';
import { migrations } from './schema/operator.ts';

const MIGRATIONS = `${PROJECT_ROOT}migrations/`;
/** `0001_name.sql`: the number orders the files; numbers may have gaps. */
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

/**
 * Longest wait for a lock, milliseconds: whoever reads the same table meanwhile waits, too. A backup or a long query
 * holds it for minutes. Then all locks are released, and after a pause the file runs again.
 */
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 2_000;
const LIMIT_MS = 600_000;

/** Other sessions held a lock that a file needs, until the time limit. */
class TablesBusyError extends AppError {
  readonly code = 'TABLES_BUSY';
  readonly retryable = true;
}

type MigrationFile = { readonly name: string; readonly sql: string; readonly checksum: string };

/**
 * Brings a database to the newest schema: runs the files of `migrations/` that have not run yet, in the order of their
 * names, each in its own transaction. A second runner waits for the first. A file runs once. It gives way to readers:
 * while others hold what it changes, it lets go and tries again. Before any file runs, the database is rejected when a
 * file was edited after it ran there, or when another release with other files made it. That of a newer release, which
 * has all files of this one, is left as it is: an operator goes back.
 *
 * @param warn called with each warning, such as what this login may not do
 * @returns names of the files that were run
 * @throws ConfigError that names the database, or the file that was edited or that failed (earlier files stay applied);
 *   TablesBusyError; an error of Postgres or the driver
 */
export async function migrate(
  databaseUrl: string,
  directory: string = MIGRATIONS,
  warn: (text: string) => void = () => undefined,
): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: withOptions(databaseUrl, KEEP_ALIVE) });
  // Losing the connection between two queries emits an error, which would end the process. The next query fails anyway.
  client.on('error', () => undefined);
  client.on('notice', ({ severity, message }) => {
    if (severity === 'WARNING' && message !== undefined) warn(message);
  });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    return await runPending(client, directory, warn);
  } finally {
    await client.end();
  }
}

async function runPending(
  client: pg.Client,
  directory: string,
  warn: (text: string) => void,
): Promise<readonly string[]> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS operator;
    CREATE TABLE IF NOT EXISTS operator.migration (
      name text PRIMARY KEY, run_at timestamptz NOT NULL DEFAULT now(), checksum text NOT NULL)`);
  const files = await readFiles(directory);
  const done = await readDone(client, files, warn);
  const pending = files.filter(({ name }) => !done.has(name));
  for (const file of pending) {
    const run = (failed: number) => {
      if (failed === 1) warn(`${file.name} waits for sessions that hold what it changes, such as a backup`);
      return runFile(client, file);
    };
    await retryFor(run, {
      limitMs: LIMIT_MS,
      pauseMs: () => PAUSE_MS,
      isPassing: (it) => it instanceof TablesBusyError,
    });
  }
  return pending.map(({ name }) => name);
}

async function readFiles(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(`${directory}/${name}`, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Names of the files that ran. @throws ConfigError when one of them was edited, or is of another release */
async function readDone(
  client: pg.Client,
  files: readonly MigrationFile[],
  warn: (text: string) => void,
): Promise<ReadonlySet<string>> {
  const checksums = new Map(files.map(({ name, checksum }) => [name, checksum]));
  // Selects all columns, because the table of the first releases has no checksum.
  const { rows: done } = await client.query<MigrationFile>('SELECT * FROM operator.migration ORDER BY name');
  const unknown = done.filter(({ name }) => !checksums.has(name)).at(-1);
  const isNewer = files.every((file) => done.some(({ name }) => name === file.name));
  if (unknown && !isNewer)
    throw new ConfigError(
      `database "${client.database}" was made by another release (it ran ${unknown.name}): back up what it alone holds and ` +
        'restore that into a new database: CHANGELOG.md, "From 0.1"',
    );
  const isEdited = ({ name, checksum }: MigrationFile) => checksums.has(name) && checksums.get(name) !== checksum;
  const edited = done.filter(isEdited).map(({ name }) => name);
  if (edited.length > 0)
    throw new ConfigError(
      `migration edited after it ran: ${edited.join(', ')}: restore it, and write the change into a new file`,
    );
  if (unknown) warn(`a newer release made database "${client.database}" (it ran ${unknown.name}): it stays as it is`);
  return new Set(done.map(({ name }) => name));
}

async function runFile(client: pg.Client, { name, sql, checksum }: MigrationFile): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    await client.query(sql);
    await queriesOn(client).insert(migrations).values({ name, checksum });
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK');
    const text = `migration failed: ${name}: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (isLockBusy(cause))
      throw new TablesBusyError(`${text}: run it again when no backup or long query runs`, { cause });
    throw new ConfigError(text, { cause });
  }
}
