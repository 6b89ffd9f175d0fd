import { spawnSync } from 'node:child_process';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../local/services/postgres.ts';
import { createTempFolder, type TempFolder } from '../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { migrate } from './migrate.ts';
import { actAs, PROCESS_ROLES } from './process-roles.ts';

const MIGRATIONS = `${PROJECT_ROOT}migrations`;
const ROLES_FILE = '0004_process_roles.sql';

let postgres: Postgres;
let before: TempFolder;
/** Of a login that is no superuser: it owns its database and may make roles. */
let url: string;

beforeAll(async () => {
  [postgres, before] = await Promise.all([startPostgres(), createTempFolder('migrations')]);
  for (const name of await readdir(MIGRATIONS)) {
    if (name < ROLES_FILE) await copyFile(join(MIGRATIONS, name), join(before.path, name));
  }
  await run(postgres.url, [
    ...PROCESS_ROLES.flatMap((role) => [`DROP ROLE ${role.replace('ptd_', '')}`, `DROP ROLE ${role}`]),
    `CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'owner'`,
    'CREATE DATABASE pools OWNER owner',
  ]);
  url = Object.assign(new URL(postgres.url), { username: 'owner', password: 'owner', pathname: '/pools' }).href;
});

afterAll(async () => {
  await postgres.stop();
  await before.remove();
});

/** One statement after the other, on a connection of its own. */
async function run(on: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: on });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

test('a deployment with one login, no superuser, goes on with its index while it is read', async () => {
  expect(await migrate(url, before.path)).toHaveLength(3);
  await run(url, [
    'CREATE SCHEMA onchain_1; CREATE TABLE onchain_1._ponder_meta (); CREATE TABLE onchain_1.token (symbol text)',
    'CREATE TABLE onchain_1.numbered (id int GENERATED ALWAYS AS IDENTITY); CREATE SEQUENCE onchain_1.reorganisation',
    `CREATE FUNCTION onchain_1.notify() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TYPE onchain_1.kind AS ENUM ('a')`,
    'CREATE SCHEMA ponder_sync; CREATE TABLE ponder_sync.logs (chain_id int8)',
    'CREATE VIEW live.token AS TABLE onchain_1.token',
  ]);
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  await reader.query('BEGIN; TABLE live.token');
  const warnings: string[] = [];
  const migrated = migrate(url, undefined, (text) => warnings.push(text));
  const asked = new pg.Client({ connectionString: url });
  await asked.connect();
  // The migration waits for the reader, and no session for the migration.
  await expect
    .poll(async () => (await asked.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rows, {
      timeout: 30_000,
      interval: 20,
    })
    .toEqual([{}]);
  await asked.query(`SET statement_timeout = '5s'; TABLE live.token`);
  await reader.query('COMMIT');
  expect((await migrated)[0]).toBe(ROLES_FILE);
  await Promise.all([reader.end(), asked.end()]);

  // Only a superuser may take functions of Postgres from all; the database is the owner's own.
  expect(warnings).toEqual([expect.stringMatching(/large objects.*migrations\/0006_least_functions\.sql$/)]);
  await expect(run(actAs(url, 'ptd_api'), ['CREATE TEMP TABLE stray ()'])).rejects.toThrow('permission denied');
  await run(actAs(url, 'ptd_api'), ['SELECT lo_create(0)']);
  const bySuperuser = Object.assign(new URL(postgres.url), { pathname: '/pools' }).href;
  const lastFile = await readFile(join(MIGRATIONS, '0006_least_functions.sql'), 'utf8');
  await run(bySuperuser, [lastFile, lastFile]);
  await expect(run(actAs(url, 'ptd_api'), ['SELECT lo_create(0)'])).rejects.toThrow('permission denied');
  expect(await migrate(url)).toEqual([]);
  await run(actAs(url, 'ptd_capture'), ["SELECT history.keep_partitions('quote_minute', 86400, 0)"]);

  await run(actAs(url, 'ptd_capture'), ['TABLE onchain_1.token']);
  await run(actAs(url, 'ptd_indexer'), [
    `INSERT INTO onchain_1.token VALUES ('A'); INSERT INTO ponder_sync.logs VALUES (1)`,
    'CREATE OR REPLACE FUNCTION onchain_1.notify() RETURNS int LANGUAGE sql AS $$ SELECT 2 $$',
    'ALTER SEQUENCE onchain_1.reorganisation CYCLE; ALTER TYPE onchain_1.kind ADD VALUE $$b$$; DROP TABLE onchain_1.numbered',
    'CREATE SCHEMA onchain_2; CREATE TABLE onchain_2.token (symbol text)',
    'DROP VIEW live.token; CREATE VIEW live.token AS TABLE onchain_2.token; DROP SCHEMA onchain_1 CASCADE',
  ]);
  for (const role of ['ptd_api', 'ptd_capture', 'ptd_operator'] as const)
    await run(actAs(url, role), ['TABLE live.token']);
  await run(bySuperuser, ['SET ROLE analyst', 'TABLE live.token']);
  await run(actAs(url, 'ptd_builders'), ['TABLE operator.pamm_answer']);
});

const hasPsql = spawnSync('psql', ['--version']).status === 0;

test.runIf(hasPsql)(
  'ops/postgres/logins.sh gives each process a login, and another password when it runs again',
  async () => {
    const { hostname, port, username, password } = new URL(url);
    const logins = PROCESS_ROLES.map((role) => ({ role, login: role.replace('ptd_', '') }));
    const makeLogins = (suffix: string) => {
      const passwords = logins.map(({ login }) => [`${login.toUpperCase()}_PASSWORD`, `${login}-${suffix}`]);
      const server = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password };
      return execa('bash', ['ops/postgres/logins.sh'], {
        cwd: PROJECT_ROOT,
        env: { ...server, ...Object.fromEntries(passwords) },
      });
    };
    const urlOf = (login: string, suffix: string) =>
      Object.assign(new URL(url), { username: login, password: `${login}-${suffix}` }).href;
    await makeLogins('first');
    await makeLogins('second');
    for (const { role, login } of logins) await run(actAs(urlOf(login, 'second'), role), ['SELECT 1']);
    await expect(run(urlOf('api', 'first'), ['SELECT 1'])).rejects.toThrow('password authentication failed');
    await expect(run(actAs(urlOf('api', 'second'), 'ptd_operator'), ['SELECT 1'])).rejects.toThrow('permission denied');
  },
);
