import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../test/harness/database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { migrate } from './migrate.ts';

const database = startedWorld(createDatabase);
let directory: string;
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await client.query('DROP SCHEMA IF EXISTS operator CASCADE');
  return () => rm(directory, { recursive: true });
});

afterAll(() => client.end());

const write = (name: string, sql: string) => writeFile(join(directory, name), sql);

test('runs files once, in order, over gaps, and ignores other files', async () => {
  await write('0007_second.sql', 'INSERT INTO operator.trace VALUES (7)');
  await write('0002_first.sql', 'CREATE TABLE operator.trace (n int); INSERT INTO operator.trace VALUES (2)');
  await write('README.md', 'not SQL');
  expect(await migrate(database.url, directory)).toEqual(['0002_first.sql', '0007_second.sql']);
  expect(await migrate(database.url, directory)).toEqual([]);
  await write('0005_late.sql', 'INSERT INTO operator.trace VALUES (5)');
  expect(await migrate(database.url, directory)).toEqual(['0005_late.sql']);
  const { rows } = await client.query('SELECT array_agg(n) AS trace FROM operator.trace');
  expect(rows[0].trace).toEqual([2, 7, 5]);
});

test('a failing file leaves nothing of itself, names itself, and runs again once repaired', async () => {
  await write('0001_good.sql', 'CREATE TABLE operator.good ()');
  await write('0002_bad.sql', 'CREATE TABLE operator.half (); SELECT 1 / 0');
  await expect(migrate(database.url, directory)).rejects.toThrow('0002_bad.sql: division by zero');
  const { rows } = await client.query(
    "SELECT to_regclass('operator.good') AS good, to_regclass('operator.half') AS half",
  );
  expect(rows[0]).toEqual({ good: 'operator.good', half: null });
  await write('0002_bad.sql', 'CREATE TABLE operator.half ()');
  expect(await migrate(database.url, directory)).toEqual(['0002_bad.sql']);
});

test('two runners at once run each file once', async () => {
  await write('0001_slow.sql', 'SELECT pg_sleep(0.3); CREATE TABLE operator.slow ()');
  const runs = await Promise.all([migrate(database.url, directory), migrate(database.url, directory)]);
  expect(runs.flat()).toEqual(['0001_slow.sql']);
});

test('while a backup or a long query holds a table, others still read it, and the file runs once that ends', async () => {
  await write('0001_table.sql', 'CREATE TABLE operator.read_by_all ()');
  await migrate(database.url, directory);
  await write('0002_column.sql', 'ALTER TABLE operator.read_by_all ADD COLUMN n int');
  const long = new pg.Client({ connectionString: database.url });
  await long.connect();
  await long.query('BEGIN; SELECT FROM operator.read_by_all');
  const waits = Promise.withResolvers<string>();
  const migrating = migrate(database.url, directory, waits.resolve);
  await expect(waits.promise).resolves.toContain('0002_column.sql waits');
  await client.query("BEGIN; SET LOCAL statement_timeout = '5s'; SELECT FROM operator.read_by_all; COMMIT");
  await long.end();
  await expect(migrating).resolves.toEqual(['0002_column.sql']);
});

test('a file that was edited after it ran is refused by name, before anything else runs', async () => {
  await write('0001_first.sql', 'CREATE TABLE operator.first ()');
  await migrate(database.url, directory);
  await write('0001_first.sql', 'CREATE TABLE operator.first (n int)');
  await write('0002_second.sql', 'CREATE TABLE operator.second ()');
  await expect(migrate(database.url, directory)).rejects.toThrow('edited after it ran: 0001_first.sql');
  const { rows } = await client.query("SELECT to_regclass('operator.second') AS second");
  expect(rows).toEqual([{ second: null }]);
  await write('0001_first.sql', 'CREATE TABLE operator.first ()');
  expect(await migrate(database.url, directory)).toEqual(['0002_second.sql']);
});

test('a database of other files is refused by its name, before anything else runs', async () => {
  await write('0036_of_another_release.sql', 'CREATE TABLE operator.older ()');
  await migrate(database.url, directory);
  // As the first releases left it.
  await client.query('ALTER TABLE operator.migration DROP COLUMN checksum');
  const name = new URL(database.url).pathname.slice(1);
  await expect(migrate(database.url)).rejects.toThrow(
    new RegExp(`^database "${name}" was made by another release \\(it ran 0036_of_another_release.sql\\)[^\n]*$`),
  );
  const { rows } = await client.query("SELECT to_regclass('operator.curator') AS made");
  expect(rows).toEqual([{ made: null }]);
});

test('the release before finds the database as it can go on with it, unless it is of other files', async () => {
  await write('0001_first.sql', 'CREATE TABLE operator.first ()');
  await migrate(database.url, directory);
  await write('0003_newer.sql', 'CREATE TABLE operator.newer ()');
  await migrate(database.url, directory);
  await rm(join(directory, '0003_newer.sql'));
  const warnings: string[] = [];
  expect(await migrate(database.url, directory, (text) => warnings.push(text))).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('it ran 0003_newer.sql')]);
  await write('0002_other.sql', 'CREATE TABLE operator.other ()');
  await expect(migrate(database.url, directory)).rejects.toThrow('was made by another release (it ran 0003_newer.sql)');
  await rm(join(directory, '0002_other.sql'));
  await write('0001_first.sql', 'CREATE TABLE operator.first (n int)');
  await expect(migrate(database.url, directory)).rejects.toThrow('edited after it ran: 0001_first.sql');
});

test("the project's own migrations run on an empty database", async () => {
  const names = await migrate(database.url);
  expect(names.length).toBeGreaterThan(0);
  expect(await migrate(database.url)).toEqual([]);
});
