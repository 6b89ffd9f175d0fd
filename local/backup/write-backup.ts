import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { loadStatement } from '../../db/load-statement.ts';
import { RUNNING_VERSION } from '../../runtime/running-version.ts';
import { type BackupHeader, FIRST_LINE, ROWS_END, STATEMENT_END } from './backup-format.ts';
import { type CopiedTable, copiedTables, ranMigrations } from './copied-tables.ts';

interface Definition {
  readonly time: 'before rows' | 'after rows' | 'at the end';
  readonly text: string;
}

const definitions = loadStatement<Definition>('./table-definitions.sql', import.meta.url);

/** Names come with their schemas, values in forms that every server reads alike. */
const SETTINGS = ["search_path = ''", 'datestyle = ISO', 'extra_float_digits = 1', 'statement_timeout = 0'].map(
  (setting) => `SET LOCAL ${setting}`,
);

/**
 * Writes a database of ours as SQL, all as it was at one moment, whoever writes meanwhile.
 *
 * @param url of the database, with the login that migrates it
 * @throws an error of Postgres
 */
export async function* writeBackup(url: string): AsyncGenerator<string | Buffer> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // The next statement fails anyway.
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const setting of SETTINGS) await client.query(setting);
    const header: BackupHeader = { release: RUNNING_VERSION.release, migrations: await ranMigrations(client) };
    yield `${FIRST_LINE}\n-- ${JSON.stringify(header)}\n`;
    yield* writeContent(client);
  } finally {
    await client.end();
  }
}

async function* writeContent(client: pg.Client): AsyncGenerator<string | Buffer> {
  const tables = await copiedTables(client, []);
  // No table goes before the end.
  await client.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS SHARE MODE`);
  const all = await definitions(client, []);
  const textsOf = (time: Definition['time']) => all.filter((each) => each.time === time).map(({ text }) => text);
  const [migrated = [], made = []] = [true, false].map((wanted) => tables.filter((it) => it.isMigrated === wanted));

  yield* writeStatements(['BEGIN', "SET LOCAL client_encoding = 'UTF8'", ...SETTINGS]);
  yield* writeStatements(['SET LOCAL ROLE ptd_indexer', ...textsOf('before rows')]);
  for (const table of made) yield* writeRows(client, table);
  yield* writeStatements([...textsOf('after rows'), 'RESET ROLE']);
  yield* writeStatements(migrated.flatMap(({ partition }) => partition ?? []));
  for (const table of migrated) yield* writeRows(client, table);
  yield* writeStatements([...textsOf('at the end'), 'COMMIT']);
}

function* writeStatements(statements: readonly string[]): Generator<string> {
  for (const statement of statements) yield `${statement};\n${STATEMENT_END}\n`;
}

async function* writeRows(client: pg.Client, { name, columns }: CopiedTable): AsyncGenerator<string | Buffer> {
  yield `COPY ${name} (${columns}) FROM STDIN;\n`;
  yield* client.query(copyTo(`COPY ${name} (${columns}) TO STDOUT`));
  yield `${ROWS_END}\n${STATEMENT_END}\n`;
}
