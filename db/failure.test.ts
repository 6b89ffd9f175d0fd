import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { createDatabase } from '../test/harness/database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { describeFailure, isDatabaseUnreachable, isMissing, isTemporaryFailure } from './failure.ts';
import { withOptions } from './process-roles.ts';

const database = startedWorld(createDatabase);
let pool: pg.Pool;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => undefined); // A connection that was ended is replaced by the next query.
  await pool.query('CREATE TABLE counter (n int); INSERT INTO counter VALUES (1)');
});

afterAll(() => pool.end());

const failureOf = (sql: string): Promise<unknown> =>
  pool.query(sql).then(
    () => {
      throw new Error(`did not fail: ${sql}`);
    },
    (error: unknown) => error,
  );

test.each([
  ['a time limit', 'SET LOCAL statement_timeout = 20; SELECT pg_sleep(30)', true],
  ['a connection that the operator ended', 'SELECT pg_terminate_backend(pg_backend_pid())', true],
  ['a wrong query', 'SELECT FRO', false],
  ['a column that does not exist', 'SELECT m FROM counter', false],
  ['a value that cannot be', 'SELECT 1 / 0 FROM counter', false],
])('%s', async (_what, sql, isUnreachable) => {
  expect(isDatabaseUnreachable(await failureOf(sql))).toBe(isUnreachable);
});

test('a missing table or function is temporary until an index is published, then a defect', async () => {
  const missing = [await failureOf('SELECT FROM live.pool'), await failureOf('SELECT no_such_function()')];
  const areTemporary = () => Promise.all(missing.map((error) => isTemporaryFailure(error, pool)));
  expect(missing.map(isDatabaseUnreachable)).toEqual([false, false]);
  expect(await areTemporary()).toEqual([true, true]);
  await pool.query('CREATE SCHEMA live; CREATE VIEW live._ponder_checkpoint AS SELECT 1 AS one');
  expect(await areTemporary()).toEqual([false, false]);
  // It came right after the query failed.
  await pool.query('CREATE VIEW live.pool AS SELECT 1 AS one');
  expect(await areTemporary()).toEqual([true, false]);
});

/** Messages of Postgres 15 in other languages, of its own translations. */
const TRANSLATED = [
  ['Relation »live.late« existiert nicht', 'Rolle »ptd_api« existiert nicht'],
  ["la relation «\u00a0live.late\u00a0» n'existe pas", "le rôle «\u00a0ptd_api\u00a0» n'existe pas"],
  ['no existe la relación «live.late»', 'no existe el rol «ptd_api»'],
  ['リレーション"live.late"は存在しません', 'ロール"ptd_api"は存在しません'],
  ['отношение "live.late" не существует', 'роль "ptd_api" не существует'],
] as const;

test.each(TRANSLATED)('failures are known in any language of Postgres: %s', async (noTable, noRole) => {
  const inLanguage = (error: unknown, message: string) => Object.assign(error as Error, { message });
  const asNobody = new pg.Pool({ connectionString: withOptions(database.url, '-c role=ptd_none') });
  const group = await asNobody.query('SELECT').catch((failure: unknown) => failure);
  await asNobody.end();
  expect(group).toMatchObject({ code: '22023' });
  expect(isMissing(inLanguage(group, noRole))).toBe(true);
  const wrong = await failureOf("SET work_mem = 'ptd'");
  expect([wrong, isMissing(wrong)]).toMatchObject([{ code: '22023' }, false]);

  const table = inLanguage(await failureOf('SELECT FROM live.late'), noTable);
  await pool.query(
    'CREATE SCHEMA IF NOT EXISTS live; CREATE OR REPLACE VIEW live._ponder_checkpoint AS SELECT 1 AS one',
  );
  expect(await isTemporaryFailure(table, pool)).toBe(false);
  await pool.query('CREATE VIEW live.late AS SELECT 1 AS one');
  expect(await isTemporaryFailure(table, pool)).toBe(true);
  await pool.query('DROP VIEW live.late');
});

test('a query that another transaction undid', async () => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT FROM counter');
    await pool.query('UPDATE counter SET n = 2');
    const error = await client.query('UPDATE counter SET n = 3').catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: '40001' });
    expect(isDatabaseUnreachable(error)).toBe(true);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('a server that does not listen, also as the cause of another error', async () => {
  const nobody = new pg.Pool({ connectionString: 'postgres://postgres@127.0.0.1:1/postgres' });
  const error = await nobody.query('SELECT').catch((failure: unknown) => failure);
  await nobody.end();
  expect(isDatabaseUnreachable(error)).toBe(true);
  expect(isDatabaseUnreachable(new Error('round failed', { cause: error }))).toBe(true);
  expect(isDatabaseUnreachable(new AggregateError([new Error('other'), error]))).toBe(true);
});

test('a server that gives no answer in the time of who asks', async () => {
  const late = await withTimeout(new Promise(() => undefined), 1).catch((error: unknown) => error);
  expect(isDatabaseUnreachable(late)).toBe(true);
});

test('a failure is described in a few words, without messages', async () => {
  const nobody = new pg.Pool({ connectionString: 'postgres://postgres:secret@127.0.0.1:1/postgres' });
  expect(await nobody.query('SELECT').catch(describeFailure)).toBe('Postgres is unreachable');
  await nobody.end();
  expect(describeFailure(new Error('timeout exceeded when trying to connect'))).toBe('Postgres is unreachable');
  expect(describeFailure(await failureOf('SELECT FROM secret'))).toBe('Postgres rejects queries (42P01)');
});

test('what is no failure of the database', () => {
  const others = [new Error('other'), new Error('a node timeout'), 'timeout expired', null];
  expect(others.map(isDatabaseUnreachable)).toEqual([false, false, false, false]);
});

test('what the driver throws without a code is in the list', async () => {
  const sources = ['pg/lib/client.js', 'pg-pool/index.js'].map((file) =>
    readFileSync(`${PROJECT_ROOT}node_modules/${file}`, 'utf8'),
  );
  const texts = sources.flatMap((source) =>
    [...source.matchAll(/new Error\('([^'\n]+)'/g)].map(([, text]) => text ?? ''),
  );
  const ofConnections = texts.filter((text) =>
    / timeout|^timeout |terminated|not queryable|Cannot use a pool/.test(text),
  );
  expect(ofConnections.length).toBeGreaterThan(8);
  expect(ofConnections.filter((text) => !isDatabaseUnreachable(new Error(text)))).toEqual([]);
});
