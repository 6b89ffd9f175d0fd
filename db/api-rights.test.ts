import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loginUrl } from '../local/services/process-logins.ts';
import { createIndexedDatabase } from '../test/harness/indexed-database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { findKey, issueApiKey, keyIdOf, keysInUse } from './api-keys.ts';
import { actAs } from './process-roles.ts';

/* What an attacker gets who runs statements as the API, which has its own login. */

const database = startedWorld(createIndexedDatabase);
let api: pg.Pool;

beforeAll(async () => {
  api = new pg.Pool({ connectionString: actAs(loginUrl(database.url, 'api'), 'ptd_api'), max: 1 });
});

afterAll(() => api.end());

test('of a key that it knows, it learns whether it is in use', async () => {
  const { key, keyId } = await issueApiKey(database.client, 'Alice');
  expect(await findKey(api, key)).toEqual({ holder: keyId, publishesQuotes: false });
  expect(await findKey(api, `${key.slice(0, -2)}__`)).toBeNull();
  expect(await keysInUse(api, [keyIdOf(key) ?? '', 'ptd_000000000000'])).toEqual(new Set([keyId]));
});

test.each([
  ['hashes of keys', 'SELECT key_hash FROM operator.api_key'],
  ['who has keys', 'SELECT key_id FROM operator.api_key'],
  ['keys as its login', 'SET ROLE NONE; TABLE operator.api_key'],
  ['keys by a copy', 'COPY operator.api_key TO STDOUT'],
  ['its function, rewritten', 'ALTER FUNCTION operator.find_key SECURITY INVOKER'],
  ['the audit trail', 'TABLE operator.pamm_submission'],
  ['the view of the audit trail', 'TABLE read_model.pamm_answer'],
  ['curators', 'TABLE operator.curator'],
  ['another schema', 'TABLE onchain_test.pool'],
  ['a new table', 'CREATE TABLE operator.mine ()'],
  ['a new table of everyone', 'CREATE TABLE public.mine ()'],
  ['a new schema', 'CREATE SCHEMA mine'],
  ['a row of the listing', 'DELETE FROM operator.listed_pool'],
  ['a price', `UPDATE operator.price_health SET status = 'healthy'`],
  ['a view of the index', 'DROP VIEW live.pool'],
  ['another login', 'SET SESSION AUTHORIZATION postgres'],
  ['passwords', 'TABLE pg_authid'],
  ['a file', `SELECT pg_read_file('postgresql.conf')`],
  ['a folder', `SELECT pg_ls_dir('.')`],
  ['a file by a copy', `CREATE TEMP TABLE stolen (line text); COPY stolen FROM '/etc/passwd'`],
  ['a file as a large object', `SELECT lo_import('/etc/passwd')`],
  ['a program', `COPY (SELECT 1) TO PROGRAM 'id'`],
  ['where the data are', 'SHOW data_directory'],
  ['who may connect', 'TABLE pg_hba_file_rules'],
  ['the settings file', 'TABLE pg_file_settings'],
  ['a setting of the server', 'ALTER SYSTEM SET log_statement = none'],
  ['a setting of its session', 'SET log_min_messages = fatal'],
])('it does not get %s', async (_what, sql) => {
  await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
});

test('it sees neither what others run nor what is known of the values of keys', async () => {
  const { rows } = await api.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename <> session_user AND query <> '<insufficient privilege>'
     UNION ALL SELECT FROM pg_stats WHERE tablename = 'api_key'`,
  );
  expect(rows).toEqual([]);
});
