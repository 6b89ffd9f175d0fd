import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PROCESS_ROLES } from '../../db/process-roles.ts';
import { request } from '../../devnet/json-rpc.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { type Postgres, type PostgresOptions, startPostgres } from '../../local/services/postgres.ts';
import { openDataFolder } from '../../local/start/data-folder.ts';
import { copyRelease } from '../harness/copied-release.ts';
import {
  digestOf,
  EVENTUALLY,
  healthyQuote,
  keyOf,
  readData,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
  statusOfQuoteUpdate,
  wholeDigestOf,
} from '../harness/local-service.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { DONE, run } from './backup-commands.ts';
import { contentOf, OWNER } from './database-content.ts';

const chain = startedWorld(startLocalChain);
const node = startedWorld(() => startRpcProxy(chain.anvil.url));

const LIMITS = { timeout: 2 * START_LIMIT_MS };

/** The project with a higher version, which a service is moved to. */
const release = openWorld(() => copyRelease(join(chain.temp, 'release')));
const movedFolder = () => join(chain.temp, 'to');

describe('npm run backup, npm run restore and a new release', LIMITS, () => {
  let rows: Awaited<ReturnType<typeof digestOf>>;
  let atFirst: Start;
  let atSecond: Start;

  test('move a service that runs into another folder, where a new release continues its index, and that into a server', async () => {
    const { temp, chains } = chain;
    const [from, to, file, atRest] = [join(temp, 'from'), movedFolder(), join(temp, 'a.gz'), join(temp, 'b.gz')];
    atFirst = await beforeStart();
    const first = await startLocal(chain, ['--chains', chains, '--data', from], { RPC_OF_ONE: node.url });
    await healthyQuote(chain, first);
    const key = keyOf(first);
    rows = await wholeDigestOf(chain, from);
    expect(await run('backup', [file, '--data', from])).toMatchObject(DONE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await first.stop();
    expect(await run('restore', [file, '--data', to])).toMatchObject(DONE);

    await release.setVersion('9.0.0');
    atSecond = await beforeStart();
    const moved = await startLocal(chain, ['--chains', chains, '--data', to], { RPC_OF_ONE: node.url }, release.folder);
    await healthyQuote(chain, moved);
    await vi.waitFor(async () => expect(await digestOf(to)).toEqual(rows), EVENTUALLY);
    expect(moved.recentOutput()).not.toContain('ptd_');
    expect(await statusOfQuoteUpdate(moved, key)).toBe(422);
    expect(await statusOfQuoteUpdate(moved, `${key}x`)).toBe(401);
    expectNoneAgain(atFirst, atSecond);
    expect(await readData(to, INDEXES)).toEqual({ served: 'onchain_1', count: '1' });
    await moved.stop();

    expect(await run('backup', [atRest, '--data', to])).toMatchObject(DONE);
    const DATABASE_URL = await databaseOfServer();
    expect(await run('restore', [atRest], { DATABASE_URL })).toMatchObject(DONE);
    const { postgres: folder, secret: password } = await openDataFolder(to);
    const { url } = await startedPostgres({ kept: { folder, password } });
    expect(await contentOf(DATABASE_URL)).toEqual(await contentOf(url));
    expect(await run('backup', [atRest], { DATABASE_URL })).toMatchObject(DONE);
  });

  test('build another index when its logic is another', async () => {
    const data = movedFolder();
    const indexes = () => readData(data, INDEXES);
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

async function startedPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const postgres = await startPostgres(options);
  onTestFinished(() => postgres.stop());
  return postgres;
}

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
