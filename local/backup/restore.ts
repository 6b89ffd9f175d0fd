import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ConfigError } from '../../config/config-error.ts';
import { migrate } from '../../db/migrate.ts';
import { copiedTables, ranMigrations } from './copied-tables.ts';
import { type Backup, readBackup } from './read-backup.ts';
import { runOnDatabase } from './run-on-database.ts';

const HELP = `
The database has no rows of ours, or is not there yet. This release has the migrations of the one that made the backup.
All is restored, or nothing.
`;

await runOnDatabase({
  name: 'restore',
  description: 'Brings an empty database to what backup wrote.',
  file: 'a file that backup made',
  help: HELP,
  work: async (file, open) => {
    const backup = await readBackup(file);
    await restoreBackup(await open(), backup);
    return `${file} is restored`;
  },
});

/**
 * Brings an empty database to a backup: all of it or nothing but the migrations.
 *
 * @param url of the database, with the login that migrates it
 * @throws ConfigError one line: the database is not empty, the file is damaged,
 * or a release with other migrations made it
 */
async function restoreBackup(url: string, { header, parts, assertWhole }: Backup): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // The next statement fails anyway.
  await client.connect();
  try {
    await assertEmpty(client);
    await migrate(url);
    if (!isDeepStrictEqual(header.migrations, await ranMigrations(client))) {
      throw new ConfigError(`the backup is of release ${header.release}: restore it with that one, then upgrade`);
    }
    await copyParts(client, parts).catch(async (cause) => {
      await assertWhole();
      throw cause;
    });
    // Its plans would be poor until Postgres did so by itself.
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

async function copyParts(client: pg.Client, parts: Backup['parts']): Promise<void> {
  for await (const { statement, rows } of parts) {
    if (rows) await pipeline(rows, client.query(copyFrom(statement)));
    else await client.query(statement);
  }
}

async function assertEmpty(client: pg.Client): Promise<void> {
  for (const { name, isMigrated } of await copiedTables(client, [])) {
    const { rows } = await client.query(`SELECT FROM ${name} LIMIT 1`);
    if (!isMigrated || rows.length > 0) {
      throw new ConfigError(`database "${client.database}" is not empty (${name}): restore into a new one`);
    }
  }
}
