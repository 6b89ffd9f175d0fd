import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { loginUrl } from '../../local/services/process-logins.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { startedWorld } from '../harness/open-world.ts';
import { DONE, emptyDatabase, lineOf, run, runOn } from './backup-commands.ts';

const folder = startedWorld(() => createTempFolder('backup-errors'));

/** Bytes of a backup that are changed, one at a time. */
const DAMAGED_PLACES = 12;

/** A database with rows that are hard to write as text, and more than is unpacked at a time. */
async function curatedDatabase(): Promise<string> {
  const database = await emptyDatabase();
  await migrate(database);
  const insert = 'INSERT INTO operator.curator (chain_id, address, username)';
  await runOn(database, `${insert} VALUES (1, '0x' || repeat('ab', 20), E'\\\\.\\n--')`);
  await runOn(
    database,
    `${insert} SELECT n, '0x' || left(md5(n::text) || md5(n::text), 40), 'name' || n FROM generate_series(2, 5000) AS n`,
  );
  return database;
}

/** Whether bytes are a file of this content, checksum included: bits between two blocks of it mean nothing. */
function isUnpacked(bytes: Uint8Array, content: Buffer): boolean {
  try {
    return gunzipSync(bytes).equals(content);
  } catch {
    return false;
  }
}

/** Files by name that are no whole backup, or one of a newer release. */
function wrongBackups(packed: Buffer): Readonly<Record<string, Uint8Array>> {
  const text = gunzipSync(packed).toString();
  return {
    other: gzipSync('other'),
    'not.gz': Buffer.from('other'),
    cut: packed.subarray(0, packed.length - 20),
    early: gzipSync(text.replace(/COMMIT;\n--\n$/, 'COMMIT')),
    shorter: gzipSync(text.replace(/COMMIT;\n--\n$/, '')),
    damaged: packed.with(packed.length - 5, (packed.at(-5) ?? 0) ^ 1),
    newer: gzipSync(text.replace('"checksum":"', '"checksum":"0').replace('"release":"', '"release":"9')),
  };
}

describe('what cannot be backed up or restored is one line, and nothing is changed', () => {
  test('backup', async () => {
    const database = await emptyDatabase();
    const into = join(folder.path, 'none', 'a.gz');
    const migrated = await emptyDatabase();
    await migrate(migrated);
    for (const [args, DATABASE_URL, errors] of [
      [
        ['a.gz', '--data', '/none'],
        '',
        /^--data: \/none has no database: name the folder of npm start, or set DATABASE_URL$/,
      ],
      [['a.gz'], database, /^DATABASE_URL: the database is not migrated, "npm run migrate" does that \(.*\)$/],
      [['a.gz'], 'postgres://me@127.0.0.1:1/pools', /^DATABASE_URL: the database is unreachable/],
      [[into], migrated, /none\/a.gz cannot be written \(ENOENT\)$/],
      [
        ['a.gz'],
        loginUrl(migrated, 'keys'),
        /^DATABASE_URL: permission denied for .+: use the login of migrate, or unset/,
      ],
    ] as const) {
      expect(lineOf('backup', await run('backup', args, { DATABASE_URL }))).toMatch(errors);
    }
    expect(existsSync(join(PROJECT_ROOT, 'a.gz')) || existsSync(join(PROJECT_ROOT, 'a.gz.unfinished'))).toBe(false);
  });

  test('restore', async () => {
    const source = await curatedDatabase();
    const whole = join(folder.path, 'whole.gz');
    expect(await run('backup', [whole], { DATABASE_URL: source })).toMatchObject(DONE);
    const packed = await readFile(whole);
    for (const [name, content] of Object.entries(wrongBackups(packed)))
      await writeFile(join(folder.path, name), content);
    const target = await emptyDatabase();
    // What is read of it is then anything, statements and rows included.
    for (let part = 1; part <= DAMAGED_PLACES; part += 1) {
      const place = Math.floor((packed.length * part) / (DAMAGED_PLACES + 1));
      const damaged = join(folder.path, 'byte');
      const bytes = packed.with(place, (packed[place] ?? 0) ^ 1);
      if (isUnpacked(bytes, gunzipSync(packed))) continue;
      await writeFile(damaged, bytes);
      const line = lineOf('restore', await run('restore', [damaged], { DATABASE_URL: target }));
      expect(line, String(place)).toMatch(
        /byte (is not a whole backup \(Z_(DATA|BUF)_ERROR\)|is not a backup of this service)$/,
      );
    }
    for (const [file, DATABASE_URL, errors] of [
      ['none.gz', target, /none.gz cannot be read \(ENOENT\)$/],
      ['other', target, /other is not a backup of this service$/],
      ['not.gz', target, /not.gz is not a whole backup \(Z_DATA_ERROR\)$/],
      ['cut', target, /cut is not a whole backup \(Z_BUF_ERROR\)$/],
      ['early', target, /early ends too early$/],
      ['shorter', target, /shorter ends too early$/],
      ['damaged', target, /damaged is not a whole backup \(Z_DATA_ERROR\)$/],
      ['newer', target, /^the backup is of release 9\S+: restore it with that one, then upgrade$/],
      ['whole.gz', source, /^database "test_\w+" is not empty \(operator.curator\): restore into a new one$/],
    ] as const) {
      expect(lineOf('restore', await run('restore', [join(folder.path, file)], { DATABASE_URL }))).toMatch(errors);
    }
    expect(await run('restore', [whole], { DATABASE_URL: target })).toMatchObject(DONE);
    const curators = 'SELECT * FROM operator.curator';
    expect(await runOn(target, curators)).toEqual(await runOn(source, curators));
  });
});

test('a backup that is stopped before its end does not end like one that is done', async () => {
  const database = await emptyDatabase();
  await migrate(database);
  const holder = new pg.Client({ connectionString: database });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN; LOCK TABLE operator.curator IN ACCESS EXCLUSIVE MODE');
  const file = join(folder.path, 'stopped.gz');
  const { promise: started, resolve: onStart } = Promise.withResolvers<ChildProcess>();
  const ended = run('backup', [file], { DATABASE_URL: database }, onStart);
  const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'operator.curator'::regclass";
  await expect.poll(async () => (await holder.query(waiting)).rows, { timeout: 60_000 }).toHaveLength(1);
  (await started).kill('SIGTERM');
  expect(lineOf('backup', await ended)).toBe('stopped before it was done (SIGTERM)');
  expect(existsSync(file)).toBe(false);
});
