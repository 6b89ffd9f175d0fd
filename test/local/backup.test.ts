import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { PROCESS_ROLES } from '../../db/process-roles.ts';
import { request } from '../../devnet/json-rpc.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { type Postgres, type PostgresOptions, startPostgres } from '../../local/services/postgres.ts';
import { openDataFolder } from '../../local/start/data-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createDatabase } from '../harness/database.ts';
import {
  digestOf,
  EVENTUALLY,
  healthyQuote,
  keyOf,
  localCommand,
  readData,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
  statusOfQuoteUpdate,
} from '../harness/local-service.ts';
import { startedWorld } from '../harness/open-world.ts';

const chain = startedWorld(startLocalChain);
const node = startedWorld(() => startRpcProxy(chain.anvil.url));

const LIMITS = { timeout: 2 * START_LIMIT_MS };

describe('npm run backup and npm run restore', LIMITS, () => {
  test('move a service that runs into another folder, and a folder at rest into a server', async () => {
    const { temp, chains } = chain;
    const [from, to, file, atRest] = [join(temp, 'from'), join(temp, 'to'), join(temp, 'a.gz'), join(temp, 'b.gz')];
    const atFirst = await beforeStart();
    const first = await startLocal(chain, ['--chains', chains, '--data', from], { RPC_OF_ONE: node.url });
    await healthyQuote(chain, first);
    const [key, rows] = [keyOf(first), await digestOf(from)];
    expect(await run('backup', [file, '--data', from])).toMatchObject(DONE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await first.stop();
    expect(await run('restore', [file, '--data', to])).toMatchObject(DONE);

    const atSecond = await beforeStart();
    const moved = await startLocal(chain, ['--chains', chains, '--data', to], { RPC_OF_ONE: node.url });
    await healthyQuote(chain, moved);
    await vi.waitFor(async () => expect(await digestOf(to)).toEqual(rows), EVENTUALLY);
    expect(moved.recentOutput()).not.toContain('ptd_');
    expect(await statusOfQuoteUpdate(moved, key)).toBe(422);
    expect(await statusOfQuoteUpdate(moved, `${key}x`)).toBe(401);
    expectNoneAgain(atFirst, atSecond);
    await moved.stop();

    expect(await run('backup', [atRest, '--data', to])).toMatchObject(DONE);
    const DATABASE_URL = await databaseOfServer();
    expect(await run('restore', [atRest], { DATABASE_URL })).toMatchObject(DONE);
    const { postgres: folder, secret: password } = await openDataFolder(to);
    const { url } = await startedPostgres({ kept: { folder, password } });
    expect(await contentOf(DATABASE_URL)).toEqual(await contentOf(url));
    expect(await run('backup', [atRest], { DATABASE_URL })).toMatchObject(DONE);
  });
});

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
    const into = join(chain.temp, 'none', 'a.gz');
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
    ] as const) {
      expect(lineOf('backup', await run('backup', args, { DATABASE_URL }))).toMatch(errors);
    }
    expect(existsSync(join(PROJECT_ROOT, 'a.gz')) || existsSync(join(PROJECT_ROOT, 'a.gz.unfinished'))).toBe(false);
  });

  test('restore', async () => {
    const source = await curatedDatabase();
    const whole = join(chain.temp, 'whole.gz');
    expect(await run('backup', [whole], { DATABASE_URL: source })).toMatchObject(DONE);
    const packed = await readFile(whole);
    for (const [name, content] of Object.entries(wrongBackups(packed)))
      await writeFile(join(chain.temp, name), content);
    const target = await emptyDatabase();
    // What is read of it is then anything, statements and rows included.
    for (let part = 1; part <= DAMAGED_PLACES; part += 1) {
      const place = Math.floor((packed.length * part) / (DAMAGED_PLACES + 1));
      const damaged = join(chain.temp, 'byte');
      await writeFile(damaged, packed.with(place, (packed[place] ?? 0) ^ 1));
      const line = lineOf('restore', await run('restore', [damaged], { DATABASE_URL: target }));
      expect(line, String(place)).toMatch(
        /byte (is not a whole backup \(Z_DATA_ERROR\)|is not a backup of this service)$/,
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
      expect(lineOf('restore', await run('restore', [join(chain.temp, file)], { DATABASE_URL }))).toMatch(errors);
    }
    expect(await run('restore', [whole], { DATABASE_URL: target })).toMatchObject(DONE);
    const curators = 'SELECT * FROM operator.curator';
    expect(await runOn(target, curators)).toEqual(await runOn(source, curators));
  });
});

describe('a new release', LIMITS, () => {
  test('continues the index, and builds another one when its logic is another', async () => {
    const { temp, chains } = chain;
    const data = join(temp, 'upgraded');
    const indexes = () => readData(data, INDEXES);
    const atFirst = await beforeStart();
    const first = await startLocal(chain, ['--chains', chains, '--data', data], { RPC_OF_ONE: node.url });
    await healthyQuote(chain, first);
    const rows = await digestOf(data);
    await first.stop();

    const atSecond = await beforeStart();
    const release = await nextRelease(join(temp, 'release'));
    const second = await startLocal(chain, ['--data', data], { RPC_OF_ONE: node.url }, release.folder);
    await healthyQuote(chain, second);
    await vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);
    expectNoneAgain(atFirst, atSecond);
    expect(await indexes()).toEqual({ served: 'onchain_1', count: '1' });
    await second.stop();

    await release.raiseLogicVersion();
    const third = await startLocal(chain, ['--data', data], { RPC_OF_ONE: node.url }, release.folder);
    expect(third.recentOutput()).toMatch(
      /ready {2}indexer .* its logic or the chains changed: backfill fills a new index/,
    );
    await healthyQuote(chain, third);
    await vi.waitFor(async () => expect(await indexes()).toEqual({ served: 'onchain_2', count: '2' }), EVENTUALLY);
    // The logic is the same, in truth.
    await vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);
    expectNoneAgain(atFirst, atSecond);
    await third.stop();
  });
});

const INDEXES = `SELECT read_model.served_schema() AS served, count(*) FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r'`;

/** The project with a higher version, built in a folder of its own. */
async function nextRelease(folder: string) {
  const ignored = /[/](node_modules|dist|[.]git|data)$/;
  await cp(PROJECT_ROOT, folder, { recursive: true, filter: (path) => !ignored.test(path) });
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'));
  const edit = async (name: string, change: (json: Record<string, unknown>) => object) => {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')))));
    await promisify(execFile)(process.execPath, ['--import', 'tsx', 'build.ts', '--if-outdated'], { cwd: folder });
  };
  await edit('package.json', (json) => ({ ...json, version: '9.0.0' }));
  const raiseLogicVersion = () =>
    edit('indexer/logic-version.json', (json) => ({ ...json, version: Number(json.version) + 1 }));
  return { folder, raiseLogicVersion };
}

/** Bytes of a backup that are changed, one at a time. */
const DAMAGED_PLACES = 12;
const DONE = { exitCode: 0, errors: '' };

async function startedPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const postgres = await startPostgres(options);
  onTestFinished(() => postgres.stop());
  return postgres;
}

const OWNER = 'owner_of_pools';

/** An empty database of another server, as a login that is no superuser. */
async function databaseOfServer(): Promise<string> {
  const { url } = await startedPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const role of PROCESS_ROLES) await client.query(`DROP ROLE ${role.replace('ptd_', '')}, ${role}`);
  await client.query(`CREATE ROLE ${OWNER} LOGIN CREATEROLE PASSWORD 'owner'`);
  await client.query(`CREATE DATABASE pools OWNER ${OWNER}`);
  await client.end();
  return Object.assign(new URL(url), { username: OWNER, password: 'owner', pathname: '/pools' }).href;
}

async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  return url;
}

async function runOn(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

/** The only line of an error. */
function lineOf(command: string, { exitCode, errors }: Ended): string {
  expect([1, 75]).toContain(exitCode);
  expect(errors).toMatch(/^.+\n$/);
  return errors.trim().replace(`${command}: `, '');
}

interface Ended {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

function run(name: string, args: readonly string[], env = {}): Promise<Ended> {
  const { command, args: all, cwd, env: whole } = localCommand(name, args, env);
  return new Promise((resolve) => {
    execFile(command, all, { cwd, env: whole }, (error, output, errors) =>
      resolve({ exitCode: error ? Number(error.code) : 0, output, errors }),
    );
  });
}

/** Ranges of blocks of which logs were asked; a request that names a block by its hash does not count. */
const logRanges = (since: number) =>
  node.requests
    .slice(since)
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => params[0] as { readonly fromBlock?: string; readonly toBlock?: string })
    .flatMap(({ fromBlock, toBlock }) => (fromBlock ? [[Number(fromBlock), Number(toBlock)] as const] : []));

/** Of a chain whose finality is not known by its id. */
const FINALITY_BLOCKS = 30;

/** How far the index may have come when the service starts, and what was asked until now. */
async function beforeStart() {
  const head = Number(await request(chain.anvil.url, 'eth_blockNumber', []));
  return { final: head - FINALITY_BLOCKS, asked: node.requests.length };
}

type Start = Awaited<ReturnType<typeof beforeStart>>;

/** After another start, no process requests logs of blocks that were final at the first start. */
function expectNoneAgain({ final, ...before }: Start, { asked }: Start): void {
  expect(logRanges(before.asked).some(([from]) => from < final)).toBe(true);
  expect(logRanges(asked).filter(([from]) => from <= final)).toEqual([]);
}

/** Definitions and owners of all that is ours, and a digest of each table's rows. */
async function contentOf(url: string): Promise<object> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=''" });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(TABLES);
    const content: Record<string, unknown> = {};
    for (const { name, columns } of tables) {
      const digest = `SELECT count(*), md5(string_agg(t::text, ';' ORDER BY t::text)) FROM (SELECT ${columns} FROM ${name}) t`;
      content[name] = (await client.query(digest)).rows;
    }
    for (const sql of DEFINITIONS) {
      content[sql] = (await client.query({ text: sql, rowMode: 'array' })).rows
        .map((row) => row.join(' ').replaceAll(OWNER, 'postgres'))
        .sort();
    }
    return content;
  } finally {
    await client.end();
  }
}

const OURS = `(SELECT oid FROM pg_namespace
  WHERE nspname IN ('operator', 'history', 'live', 'ponder_sync', 'onchain_1', 'read_model'))`;
/** Without what a server recognises its own rows by. */
const TABLES = `
  SELECT c.oid::regclass AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
  FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  WHERE relnamespace IN ${OURS} AND relkind = 'r' AND attname <> 'swap_table' AND relname NOT IN ('listing_source', 'migration')
  GROUP BY c.oid`;
/** Rights, in one order. */
const rights = (acl: string) => `(SELECT string_agg(item::text, ' ' ORDER BY item::text) FROM unnest(${acl}) AS item)`;
const DEFINITIONS = [
  `SELECT nspname, nspowner::regrole, ${rights('nspacl')} FROM pg_namespace WHERE oid IN ${OURS}`,
  `SELECT oid::regclass, relkind, relowner::regrole, ${rights('relacl')}, reloptions FROM pg_class WHERE relnamespace IN ${OURS}`,
  `SELECT attrelid::regclass, attname, attnum, format_type(atttypid, atttypmod), attnotnull, attidentity, attcollation,
     pg_get_expr(adbin, adrelid)
   FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
   WHERE relnamespace IN ${OURS} AND attnum > 0`,
  `SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace IN ${OURS}`,
  `SELECT pg_get_indexdef(oid) FROM pg_class WHERE relkind = 'i' AND relnamespace IN ${OURS}`,
  `SELECT pg_get_functiondef(oid), proowner::regrole, ${rights('proacl')} FROM pg_proc WHERE prokind = 'f' AND pronamespace IN ${OURS}`,
  `SELECT oid::regclass, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND relnamespace IN ${OURS}`,
  'SELECT schemaname, sequencename, data_type, start_value, increment_by, last_value FROM pg_sequences',
  'SELECT read_model.served_schema(), index_schema, swap_table = history.swap_table_of(index_schema) FROM history.trade_mark',
];
