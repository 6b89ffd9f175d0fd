import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveSchema } from '../indexer/publication/live-views.ts';
import { loginUrl } from '../local/services/process-logins.ts';
import { createLogger } from '../runtime/logger.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../test/harness/indexed-database.ts';
import { createOnchainTables } from '../test/harness/onchain-tables.ts';
import { openDatabase, SHORT_STATEMENTS } from './connection.ts';
import { actAs, PROCESS_ROLES } from './process-roles.ts';

/**
 * What each role may do with each table and view, in the letters of Postgres: a INSERT, r SELECT, w UPDATE, d DELETE,
 * D TRUNCATE, x REFERENCES, t TRIGGER, m MAINTAIN. A star stands for every table and view of the schema.
 */
const RIGHTS = `
                                 ptd_indexer ptd_capture ptd_api ptd_builders ptd_operator analyst
  operator.api_key                    -           -         -         -           arw         -
  operator.curator                    -           r         -         -           arwd        -
  operator.delisted_pool              -           r         r         -           arwd        -
  operator.found_contract             ard         r         r         -           r           -
  operator.layout_calibration         -           arw       r         -           arw         -
  operator.pamm_submission            -           rw        -         arwd        -           -
  operator.pamm_answer                -           -         -         arwd        -           -
  operator.price_health               -           arwd      r         -           r           -
  operator.pool_storage               -           arwd      -         -           -           -
  operator.fiat_price                 -           arwd      -         -           -           -
  operator.pool_classification        -           arwd      r         -           -           -
  operator.listing_window             -           arwd      r         -           r           -
  operator.listing_source             -           arwd      -         -           -           -
  operator.listing_price              -           arwd      r         -           -           -
  operator.listed_pool                -           arwd      r         -           -           -
  operator.pool_listing               -           arwd      r         -           r           -
  operator.pool_trend                 -           arwd      r         -           -           -
  operator.index_audit                r           arwd      r         -           -           -
  operator.backfill                   arwd        -         -         -           -           -
  operator.first_sync                 arwd        -         r         -           -           -
  operator.log_fault                  arwd        -         r         -           -           -
  operator.migration                  -           -         -         -           -           -
  read_model.token                    r           r         r         -           r           r
  read_model.pool                     r           r         r         -           r           r
  read_model.pool_state               r           r         r         -           r           r
  read_model.pool_bin                 r           r         r         -           r           r
  read_model.pool_extension           r           r         r         -           r           r
  read_model.stop_loss                r           r         r         -           r           r
  read_model.price_velocity           r           r         r         -           r           r
  read_model.allowlist                r           r         r         -           r           r
  read_model.price_provider           r           r         r         -           r           r
  read_model.swap                     r           r         r         -           r           r
  read_model.bin_swap                 r           r         r         -           r           r
  read_model.liquidity_change         r           r         r         -           r           r
  read_model.fee_collection           r           r         r         -           r           r
  read_model.pool_activity            r           r         r         -           r           r
  read_model.indexed_block            r           r         r         -           r           r
  read_model.pool_listing             -           -         -         -           -           r
  read_model.price_health             -           -         -         -           -           r
  read_model.fiat_price               -           -         -         -           -           r
  read_model.curator                  -           -         -         -           -           r
  read_model.delisted_pool            -           -         -         -           -           r
  read_model.pamm_submission          -           -         -         -           -           r
  read_model.pamm_answer              -           -         -         -           -           r
  read_model.pool_balance             -           -         -         -           -           r
  read_model.pool_storage             -           -         -         -           -           r
  read_model.layout_calibration       -           -         -         -           -           r
  history.trade_mark                  arwd        arwd      r         -           -           r
  history.trade_bar                   arwd        arwd      r         -           -           r
  history.fill                        -           arwd      r         -           -           r
  history.quote_minute                -           ar        r         -           -           r
  history.quote_hour                  -           ar        r         -           -           r
  history.executability_hour          -           arw       r         -           -           r
  history.fiat_price_minute           r           ar        r         -           -           r
  history.fiat_price_hour             r           ar        r         -           -           r
  read_model.trade_candle             -           -         r         -           -           r
  read_model.quote_sample             -           -         r         -           -           r
  read_model.pool_day                 -           -         r         -           -           r
  read_model.fill_quality             -           -         r         -           -           r
  read_model.fiat_price_history       -           -         r         -           -           r
  read_model.dex_trades               -           -         -         -           -           r
  read_model.pool_yields              -           -         -         -           -           r
  live.*                              arwdDxtm    r         r         -           r           r
  onchain_test.*                      arwdDxtm    r         -         -           -           -
  onchain_next.*                      arwdDxtm    r         -         -           -           -`;

const [roles = [], ...lines] = RIGHTS.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));

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

/**
 * Functions that Postgres marks volatile, by what keeps a role that may execute them from changing anything but its own
 * session. What is not listed is revoked, or a function of ours.
 */
const HARMLESS: readonly RegExp[] = [
  // Reads of the clock, of chance and of identifiers; the seed is the session's.
  /^(clock_timestamp|timeofday|random|random_normal|setseed|gen_random_uuid|uuidv[47]|array_(sample|shuffle))$/,
  // Settings of the session, within what its role may set: SET does the same.
  /^set_config$/,
  // Waits in its own session.
  /^pg_sleep(_for|_until)?$/,
  // NOTIFY is a command that no right governs. Nothing is stored, and who listens reads the database after it.
  /^pg_notify$/,
  // Runs a query with the caller's rights.
  /^((query|cursor)_to_xml(_and_xmlschema|schema)?|ts_stat|ts_rewrite)$/,
  // Reads of statistics and of the state of the server;
  // `clear` and `flush` concern those that the session itself collects.
  /^pg_stat_get_\w+$/,
  /^pg_(stat_clear_snapshot|stat_force_next_flush)$/,
  /^pg_(lock_status|blocking_pids|safe_snapshot_blocking_pids|isolation_test_session_is_blocked|prepared_xact)$/,
  /^pg_(control_\w+|jit_available|get_loaded_modules|get_wait_events|notification_queue_usage|get_multixact_members)$/,
  /^pg_(is_in_recovery|is_wal_replay_paused|get_wal_\w+|(current|last)_wal_\w+|last_xact_replay_timestamp)$/,
  /^pg_(available_wal_summaries|wal_summary_contents|last_committed_xact|xact_\w+)$|^(txid_status|current_query)$/,
  // Reads of the catalog.
  /^pg_((database|tablespace|table|indexes|relation|total_relation)_size|partition_(ancestors|tree))$/,
  /^pg_(database_)?collation_actual_version$|^(amvalidate|currtid2|plpgsql_validator)$/,
  // Needs rights on the sequence: see the test of sequences.
  /^(nextval|setval|currval|lastval|pg_sequence_last_value|pg_get_sequence_data)$/,
  // Only of the owner of the index or of the table, or with MAINTAIN.
  /^(brin_(de)?summarize_\w+|gin_clean_pending_list|pg_(clear|restore)_(attribute|relation)_stats)$/,
  // Only with the REPLICATION attribute.
  /^pg_((create|copy)_(logical|physical)_replication_slot|drop_replication_slot|replication_slot_advance)$/,
  /^pg_(logical_slot_(get|peek)_(binary_)?changes|sync_replication_slots)$/,
  // Only of a superuser.
  /^pg_(import_system_collations|nextoid|stop_making_pinned_objects)$/,
  // Only in a server that pg_upgrade started, or in the script of an extension.
  /^binary_upgrade_\w+$|^pg_extension_config_dump$/,
];

/**
 * What else each may execute: of Postgres, what was revoked from all and is needed; of ours,
 * what has a right of its own.
 */
const GRANTED = {
  ptd_indexer: [
    'pg_catalog.pg_advisory_lock_shared(integer,integer)',
    'pg_catalog.pg_advisory_unlock_shared(integer,integer)',
    // Kysely's, as Ponder migrates its cached logs.
    'pg_catalog.pg_advisory_xact_lock(bigint)',
    'pg_catalog.pg_try_advisory_lock(integer,integer)',
    'pg_catalog.pg_try_advisory_xact_lock(integer,integer)',
  ],
  ptd_capture: ['history.keep_partitions(text,bigint,bigint)', 'pg_catalog.pg_advisory_xact_lock(bigint)'],
  ptd_api: ['operator.find_key(bytea)', 'operator.holder_of_key(bytea)', 'operator.keys_in_use(text[])'],
  ptd_builders: [],
  ptd_operator: [],
  analyst: [],
};

/** Triggers and what takes or returns `internal` cannot be called in a query, nor can the handler of a language. */
const VOLATILE_SQL = `
  SELECT role, proname AS name, format('%I.%I(%s)', nspname, proname,
    (SELECT string_agg(format_type(type, NULL), ',' ORDER BY i) FROM unnest(proargtypes) WITH ORDINALITY AS a (type, i))) AS signature
  FROM unnest($1::text[]) role, pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE provolatile = 'v' AND 'internal'::regtype <> ALL (proargtypes || prorettype)
    AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'language_handler'::regtype)
    AND has_schema_privilege(role, n.oid, 'USAGE') AND has_function_privilege(role, p.oid, 'EXECUTE')
  ORDER BY signature`;

let database: IndexedDatabase;
let indexer: pg.Pool;

const sessionsOf = (role: (typeof PROCESS_ROLES)[number]) => {
  const url = actAs(loginUrl(database.url, role.replace('ptd_', '')), role);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  return pool;
};

beforeAll(async () => {
  database = await createIndexedDatabase();
  indexer = sessionsOf('ptd_indexer');
  await createOnchainTables(indexer, 'onchain_next');
  await serveSchema(indexer, 'onchain_next');
});

afterAll(async () => {
  await indexer.end();
  await database.drop();
});

test('each role may do with each table and view what the list says, also with an index that is made later', async () => {
  const { rows } = await database.client.query<{ schema: string; name: string; rights: string[] }>(RIGHTS_SQL, [roles]);
  const expected = new Map(lines.map(([name = '', ...rights]) => [name, rights]));
  const [found, listed] = [new Map<string, string[]>(), new Map<string, string[] | undefined>()];
  for (const { schema, name, rights } of rows) {
    found.set(`${schema}.${name}`, rights);
    listed.set(`${schema}.${name}`, expected.get(`${schema}.${name}`) ?? expected.get(`${schema}.*`));
  }
  expect(found).toEqual(listed);
  for (const name of expected.keys()) {
    expect(
      found.keys().some((each) => each === name || `${each.split('.')[0]}.*` === name),
      name,
    ).toBe(true);
  }
});

test('only the indexer makes schemas, nobody tables in those that are there, and functions with rights pin their path', async () => {
  const { rows: makers } = await database.client.query(
    `SELECT role, nspname FROM unnest($1::text[]) role, pg_namespace
     WHERE has_schema_privilege(role, pg_namespace.oid, 'CREATE')
       AND NOT (role = 'ptd_indexer' AND (nspname = 'live' OR starts_with(nspname, 'onchain_')))`,
    [roles],
  );
  expect(makers).toEqual([]);
  const { rows: schemas } = await database.client.query(
    `SELECT role FROM unnest($1::text[]) role WHERE has_database_privilege(role, current_database(), 'CREATE')`,
    [roles],
  );
  expect(schemas).toEqual([{ role: 'ptd_indexer' }]);
  const { rows: functions } = await database.client.query(
    `SELECT proname AS name, proconfig AS settings,
       ARRAY(SELECT role FROM unnest($1::text[]) role WHERE has_function_privilege(role, oid, 'EXECUTE')) AS callers
     FROM pg_proc WHERE prosecdef ORDER BY 1`,
    [roles],
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
    roles,
  ]);
  const used = new Set<RegExp>();
  const further = Object.fromEntries(roles.map((role) => [role, [] as string[]]));
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
    [roles],
  );
  expect(rows).toEqual([]);
});

test('only the indexer makes temporary tables', async () => {
  const { rows } = await database.client.query(
    `SELECT role FROM unnest($1::text[]) role WHERE has_database_privilege(role, current_database(), 'TEMPORARY')`,
    [roles],
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
