import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveSchema } from '../indexer/publication/live-views.ts';
import { loginUrl } from '../local/services/process-logins.ts';
import { createLogger } from '../runtime/logger.ts';
import { createIndexedDatabase } from '../test/harness/indexed-database.ts';
import { createOnchainTables } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { openDatabase, SHORT_STATEMENTS } from './connection.ts';
import { GRANTED, HARMLESS, RIGHTS_OF, ROLES } from './process-rights.fixture.ts';
import { actAs, PROCESS_ROLES } from './process-roles.ts';

/** What the server says: a right on one column counts as one on the table. */
const RIGHTS_SQL = `
  SELECT nspname AS schema, relname AS name, array_agg(coalesce(letters, '-') ORDER BY place) AS rights
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace, unnest($1::text[]) WITH ORDINALITY AS r (role, place),
    LATERAL (
      SELECT string_agg(letter, '' ORDER BY i) FROM unnest(
        ARRAY['a', 'r', 'w', 'd', 'D', 'x', 't', 'm'],
        ARRAY['INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']
      ) WITH ORDINALITY AS p (letter, privilege, i)
      WHERE has_schema_privilege(role, n.oid, 'USAGE') AND CASE
        WHEN letter IN ('a', 'r', 'w', 'x') THEN has_any_column_privilege(role, c.oid, privilege)
        ELSE has_table_privilege(role, c.oid, privilege) END
    ) AS may (letters)
  WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  GROUP BY 1, 2`;

/** Triggers and what takes or returns `internal` cannot be called in a query, nor can the handler of a language. */
const VOLATILE_SQL = `
  SELECT role, proname AS name, format('%I.%I(%s)', nspname, proname,
    (SELECT string_agg(format_type(type, NULL), ',' ORDER BY i) FROM unnest(proargtypes) WITH ORDINALITY AS a (type, i))) AS signature
  FROM unnest($1::text[]) role, pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE provolatile = 'v' AND 'internal'::regtype <> ALL (proargtypes || prorettype)
    AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'language_handler'::regtype)
    AND has_schema_privilege(role, n.oid, 'USAGE') AND has_function_privilege(role, p.oid, 'EXECUTE')
  ORDER BY signature`;

const database = startedWorld(createIndexedDatabase);
let indexer: pg.Pool;

const sessionsOf = (role: (typeof PROCESS_ROLES)[number]) => {
  const url = actAs(loginUrl(database.url, role.replace('ptd_', '')), role);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  return pool;
};

beforeAll(async () => {
  indexer = sessionsOf('ptd_indexer');
  await createOnchainTables(indexer, 'onchain_next');
  await serveSchema(indexer, 'onchain_next');
});

afterAll(() => indexer.end());

test('each role may do with each table and view what the list says, also with an index that is made later', async () => {
  const { rows } = await database.client.query<{ schema: string; name: string; rights: string[] }>(RIGHTS_SQL, [ROLES]);
  const [found, listed] = [new Map<string, string[]>(), new Map<string, string[] | undefined>()];
  for (const { schema, name, rights } of rows) {
    found.set(`${schema}.${name}`, rights);
    listed.set(`${schema}.${name}`, RIGHTS_OF.get(`${schema}.${name}`) ?? RIGHTS_OF.get(`${schema}.*`));
  }
  expect(found).toEqual(listed);
  for (const name of RIGHTS_OF.keys()) {
    expect(
      found.keys().some((each) => each === name || `${each.split('.')[0]}.*` === name),
      name,
    ).toBe(true);
  }
});

test('the locks of a machine that is gone are free within half a minute', async () => {
  const setting = (name: string) => `current_setting('tcp_keepalives_${name}')::int`;
  const secs = `${setting('idle')} + ${setting('interval')} * ${setting('count')}`;
  const { rows } = await indexer.query<{ secs: number }>(`SELECT ${secs} AS secs`);
  expect(rows[0]?.secs).toBeLessThan(30);
});

test('only the indexer makes schemas, nobody tables in those that are there, and functions with rights pin their path', async () => {
  const { rows: makers } = await database.client.query(
    `SELECT role, nspname FROM unnest($1::text[]) role, pg_namespace
     WHERE has_schema_privilege(role, pg_namespace.oid, 'CREATE')
       AND NOT (role = 'ptd_indexer' AND (nspname IN ('live', 'ponder_sync') OR starts_with(nspname, 'onchain_')))`,
    [ROLES],
  );
  expect(makers).toEqual([]);
  const { rows: schemas } = await database.client.query(
    `SELECT role FROM unnest($1::text[]) role WHERE has_database_privilege(role, current_database(), 'CREATE')`,
    [ROLES],
  );
  expect(schemas).toEqual([{ role: 'ptd_indexer' }]);
  const { rows: functions } = await database.client.query(
    `SELECT proname AS name, proconfig AS settings,
       ARRAY(SELECT role FROM unnest($1::text[]) role WHERE has_function_privilege(role, oid, 'EXECUTE')) AS callers
     FROM pg_proc WHERE prosecdef ORDER BY 1`,
    [ROLES],
  );
  const pinned = { settings: ['search_path=pg_catalog, pg_temp'], callers: ['ptd_api'] };
  expect(functions).toEqual([
    { name: 'find_key', ...pinned },
    { name: 'holder_of_key', ...pinned },
    { name: 'keep_partitions', settings: [...pinned.settings, 'lock_timeout=300ms'], callers: ['ptd_capture'] },
    { name: 'keys_in_use', ...pinned },
  ]);
});

test('a role may execute, of what has effects, only what is harmless or what it needs', async () => {
  const { rows } = await database.client.query<{ role: string; name: string; signature: string }>(VOLATILE_SQL, [
    ROLES,
  ]);
  const used = new Set<RegExp>();
  const further = Object.fromEntries(ROLES.map((role) => [role, [] as string[]]));
  for (const { role, name, signature } of rows) {
    const reason = signature.startsWith('pg_catalog.') ? HARMLESS.find((each) => each.test(name)) : undefined;
    if (reason) used.add(reason);
    else further[role]?.push(signature);
  }
  expect(further).toEqual(GRANTED);
  expect(HARMLESS.filter((each) => !used.has(each))).toEqual([]);
});

test.each(PROCESS_ROLES)('%s can store nothing beside the tables', async (role) => {
  const pool = sessionsOf(role);
  const refused = [
    'SELECT lo_create(0)',
    `SELECT lo_from_bytea(0, '\\x00')`,
    'SELECT lo_unlink(1)',
    'SELECT pg_advisory_lock(1)',
    `SELECT pg_logical_emit_message(false, 'a', 'b')`,
    'SELECT pg_export_snapshot()',
    'SELECT pg_terminate_backend(pg_backend_pid())',
    'CREATE TABLE public.stray ()',
    // Ponder writes its rows by way of temporary tables.
    ...(role === 'ptd_indexer' ? [] : ['CREATE TEMP TABLE stray ()']),
  ];
  for (const sql of refused) await expect(pool.query(sql), sql).rejects.toThrow('permission denied');
  await pool.end();
});

test('nobody may draw from a sequence but who owns it', async () => {
  const { rows } = await database.client.query(
    `SELECT role, c.oid::regclass FROM unnest($1::text[]) role, pg_class c
     WHERE relkind = 'S' AND has_sequence_privilege(role, c.oid, 'USAGE, UPDATE') AND pg_get_userbyid(relowner) <> role`,
    [ROLES],
  );
  expect(rows).toEqual([]);
});

test('only the indexer makes temporary tables', async () => {
  const { rows } = await database.client.query(
    `SELECT role FROM unnest($1::text[]) role WHERE has_database_privilege(role, current_database(), 'TEMPORARY')`,
    [ROLES],
  );
  expect(rows).toEqual([{ role: 'ptd_indexer' }]);
});

test.each(PROCESS_ROLES)('the login of %s may act as nobody else', async (role) => {
  const others = PROCESS_ROLES.filter((each) => each !== role && !(role === 'ptd_operator' && each === 'ptd_indexer'));
  const pool = sessionsOf(role);
  expect((await pool.query('SELECT current_user AS name')).rows).toEqual([{ name: role }]);
  for (const other of [...others, 'postgres', 'analyst']) {
    await expect(pool.query(`SET ROLE ${other}`), other).rejects.toMatchObject({ code: '42501' });
  }
  await pool.end();
});

test('a process has its role and time limit on each connection, and settings of its URL come before its own', async () => {
  const url = `${loginUrl(database.url, 'api')}?options=-c%20jit%3Don`;
  const { $client } = openDatabase(url, 'ptd_api', createLogger('test', 'silent'), {
    max: 1,
    settings: SHORT_STATEMENTS,
  });
  const { rows } = await $client.query(
    `SELECT current_user AS role, session_user AS login, current_setting('statement_timeout') AS limit,
       current_setting('jit') AS jit, current_setting('max_parallel_workers_per_gather') AS workers`,
  );
  await $client.end();
  expect(rows).toEqual([{ role: 'ptd_api', login: 'api', limit: '10s', jit: 'on', workers: '0' }]);
});
