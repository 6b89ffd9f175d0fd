import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain, setBlockTime } from '../../devnet/dev-chain.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import type { PoolPlan } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { isAlive, processesOf } from '../../local/services/processes.fixture.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { openDataFolder } from '../../local/start/data-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { copyRelease } from '../harness/copied-release.ts';
import {
  apiOf,
  digestOf,
  EVENTUALLY,
  healthyQuote,
  keyOf,
  localCommand,
  localStarter,
  readData,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
  statusOfQuoteUpdate,
  wholeDigestOf,
} from '../harness/local-service.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { beforeStart, expectNoneAgain, type Start } from './asked-logs.ts';
import { DONE, databaseOfServer, run, startedPostgres } from './backup-commands.ts';
import { contentOf } from './database-content.ts';
import { endAllAtOnce, endPart, untilRuns } from './ended-processes.ts';
import { expectAlone, expectSecret, fillDisk, isRoot, makeDisk } from './start-faults.ts';
import { expectAnalyst, otherChain } from './start-places.ts';

const chain = startedWorld(startLocalChain);
const node = startedWorld(() => startRpcProxy(chain.anvil.url));
/** The project with a higher version, which a service is moved to. */
const release = openWorld(() => copyRelease(join(chain.temp, 'release')));
/** Where the service keeps its data at first. */
openWorld(async (ends) => {
  ends.defer(await makeDisk(place('data')));
  return {};
});
const startForTests = localStarter();

/** The folder of the first test, in which later ones go on, the one that it is moved to, and backups of both. */
const place = (name: 'data' | 'moved' | 'a.gz' | 'b.gz') => join(chain.temp, name);
/** Of these chains, or of those of the last start. */
const startIn = (data: string, args: readonly string[] = [], root?: string) =>
  startForTests(chain, [...args, '--data', data], { RPC_OF_ONE: node.url }, root);

const INDEXES = `SELECT read_model.served_schema() AS served, count(*) FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r'`;

describe('npm start, npm run backup, npm run restore and a new release', { timeout: 2 * START_LIMIT_MS }, () => {
  let service: ServiceProcess;
  let key: string;
  let rows: Awaited<ReturnType<typeof digestOf>>;
  let atFirst: Start;

  const expectKey = async (of: ServiceProcess) => {
    expect(of.recentOutput()).not.toContain('ptd_');
    expect(await statusOfQuoteUpdate(of, key)).toBe(422);
    expect(await statusOfQuoteUpdate(of, `${key}x`)).toBe(401);
  };
  const untilRows = (data: string) => vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);

  test('a chain is served from nothing, and after the end of every process with the rows that it had', async () => {
    const { chains } = chain;
    const data = place('data');
    // A start that fails does not take the key from the first that succeeds.
    const gone = localCommand('start', ['--chains', chains, '--data', data], { RPC_OF_ONE: 'http://127.0.0.1:1' });
    await expect(startService({ ...gone, ready: /never/ })).rejects.toThrow('exit code 1');
    atFirst = await beforeStart(node);
    const startedAt = performance.now();
    const first = await startIn(data, ['--chains', chains, '--chain', 'one']);
    await healthyQuote(chain, first);
    const fromNothing = performance.now() - startedAt;
    key = keyOf(first);
    expect(key).not.toBe('');
    await expectAnalyst(data);
    rows = await wholeDigestOf(chain, data);

    await endAllAtOnce(first);

    const againAt = performance.now();
    service = await startIn(data);
    await healthyQuote(chain, service);
    // Blocks that are not final are indexed again.
    await untilRows(data);
    const again = performance.now() - againAt;
    await expectKey(service);
    process.stderr.write(`first healthy quote after ${secs(fromNothing)}, after kill -9 again after ${secs(again)}\n`);
  });

  test('it has its folder alone, its processes do not know its secret, and a full log does not end it', async () => {
    const data = place('data');
    await expectSecret(service, data);
    await expectAlone(service, data, chain.chains, node.url);
    await endPart(service, 'capture', 'dist/capture.mjs');
    await untilRuns(service, 'dist/capture.mjs');
    expect(service.recentOutput().match(/logs\/capture\.log lacks lines: ENOSPC/g)).toHaveLength(1);
  });

  test('it names a disk that fills up, and goes on once it has room; its stores have logs', async () => {
    const data = place('data');
    const logOf = (store: string) => readFile(join(data, 'logs', `${store}.log`), 'utf8');
    expect(await logOf('postgres')).toContain('database system is ready to accept connections');
    expect(await logOf('redis')).toContain('Ready to accept connections');
    // Postgres says every ten seconds how long it recovers, and here every millisecond: it takes eight.
    await appendFile(join(data, 'postgres/data/postgresql.auto.conf'), 'log_startup_progress_interval = 1\n');
    await (isRoot ? fillDisk(service, data) : endPart(service, 'postgres', 'bin/postgres -D'));
    await untilRows(data);
    await healthyQuote(chain, service);
    expect(service.recentOutput()).toMatch(/postgres recovers what a crash left: \d+ s/);
  });

  test('it is backed up while it runs, and ends when it is stopped, whatever its nodes do', async () => {
    const data = place('data');
    const file = place('a.gz');
    expect(await run('backup', [file, '--data', data])).toMatchObject(DONE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    node.misbehave({ kind: 'hanging' });
    await endPart(service, 'indexer', 'dist/indexer.mjs');
    await untilRuns(service, 'dist/indexer.mjs');
    const last = processesOf(service.pid);
    const stoppedAt = performance.now();
    process.kill(service.pid, 'SIGTERM');
    expect(await service.ended).toBe('exit code 0');
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    expect(await readdir(data)).not.toContain('lock');
    // The watchdog ends once it sees that this one has.
    await vi.waitFor(() => expect(last.filter(isAlive)).toEqual([]), EVENTUALLY);
  });

  test('it lists what it had after a restart without nodes, and follows them once they answer', async () => {
    node.misbehave({ kind: 'text', status: 403, body: 'Must be authenticated!' });
    const again = await startService({
      ...localCommand('start', ['--data', place('data')], { RPC_OF_ONE: node.url }),
      ready: / API {2}/,
    });
    onTestFinished(again.stop);
    const warning = `warning: chain ${chain.scenario.chainId}, ${node.url}: does not answer: status 403: Must be authenticated!`;
    expect(again.recentOutput()).toContain(`\n  ${warning}\n`);
    // What was not final is indexed again, once they answer.
    const listing = await fetch(`${apiOf(again)}/public/v1/evm/${chain.scenario.chainId}/metadata`);
    expect(((await listing.json()) as { readonly total: number }).total).toBeGreaterThan(0);
    node.misbehave(null);
    const follows = () => expect(again.recentOutput()).toMatch(/ready: the index follows/);
    await vi.waitFor(follows, { timeout: START_LIMIT_MS, interval: 500 });
    await untilRows(place('data'));
  });

  test('what was backed up goes on in another folder, where a new release continues its index', async () => {
    const moved = place('moved');
    expect(await run('restore', [place('a.gz'), '--data', moved])).toMatchObject(DONE);

    await release.setVersion('9.0.0');
    const atSecond = await beforeStart(node);
    service = await startIn(moved, ['--chains', chain.chains], release.folder);
    await healthyQuote(chain, service);
    await untilRows(moved);
    await expectKey(service);
    expectNoneAgain(node, atFirst, atSecond);
    expect(await readData(moved, INDEXES)).toEqual({ served: 'onchain_1', count: '1' });
  });

  test('an indexer of another logic builds another index; a folder at rest is moved into a server', async () => {
    const [moved, file] = [place('moved'), place('b.gz')];
    const before = await beforeStart(node);
    await release.raiseLogicVersion();
    await endPart(service, 'indexer', 'dist/indexer.mjs');
    const indexes = () => readData(moved, INDEXES);
    await vi.waitFor(async () => expect(await indexes()).toEqual({ served: 'onchain_2', count: '2' }), EVENTUALLY);
    // The logic is the same, in truth.
    await untilRows(moved);
    expectNoneAgain(node, atFirst, before);
    await healthyQuote(chain, service);
    await service.stop();

    expect(await run('backup', [file, '--data', moved])).toMatchObject(DONE);
    const DATABASE_URL = await databaseOfServer();
    expect(await run('restore', [file], { DATABASE_URL })).toMatchObject(DONE);
    const { postgres: folder, secret: password } = await openDataFolder(moved);
    const { url } = await startedPostgres({ kept: { folder, password } });
    expect(await contentOf(DATABASE_URL)).toEqual(await contentOf(url));
    expect(await run('backup', [file], { DATABASE_URL })).toMatchObject(DONE);
  });

  test('it shows how far the first index of an added chain is, while the others go on', async () => {
    const added = await otherChain();
    const scenario = await runScenario({ rpcUrl: added.url, chainId: 5, onlyTrading: true });
    await setBlockTime(await connectDevChain(added.url), 1);
    const proxy = await startRpcProxy(added.url);
    onTestFinished(() => proxy.stop());
    const logs = Promise.withResolvers<void>();
    proxy.misbehave({ kind: 'held', until: logs.promise }, ({ method }) => method === 'eth_getLogs');
    const file = JSON.parse(await readFile(chain.chains, 'utf8'));
    const { chains } = buildChainsFile([{ chainId: 5, name: 'added', kind: 'ethereum', url: proxy.url, scenario }]);
    const both = join(chain.temp, 'both.json');
    await writeFile(both, JSON.stringify({ ...file, chains: [...file.chains, ...chains] }));
    const data = place('data');
    const port = await freePort();
    const started = startLocal(chain, ['--chains', both, '--data', data], { PORT: String(port) });
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}/public/v1${path}`)).json();
    const states = async () => ((await get('/status')) as { readonly chains: readonly object[] }).chains;
    const listing = async () => JSON.stringify(await get(`/evm/${chain.scenario.chainId}/metadata`));
    const one = { name: 'one', indexedBlock: expect.any(Number), firstSync: null };
    await vi.waitFor(
      async () => expect(await states()).toMatchObject([one, { name: 'added', firstSync: { logs: 0 } }]),
      EVENTUALLY,
    );
    const setup = { chain: await connectDevChain(chain.anvil.url), ...chain.scenario };
    const { address } = await buildPool(setup, TRADING_POOLS[0] as PoolPlan, 1_000);
    await vi.waitFor(async () => expect((await listing()).toLowerCase()).toContain(address.toLowerCase()), EVENTUALLY);
    expect(await states()).toMatchObject([one, { name: 'added', firstSync: { logs: 0 } }]);
    logs.resolve();
    service = await started;
    expect(service.recentOutput()).toMatch(
      /ready {2}indexer .* its logic or the chains changed: backfill fills a new index, the old one goes on/,
    );
    expect(await states()).toMatchObject([one, { ...one, name: 'added' }]);
    const indexed = async () => JSON.parse(await readFile(join(data, 'chains.json.indexed'), 'utf8')).chains;
    await vi.waitFor(
      async () => expect(await indexed()).toMatchObject([{ name: 'one' }, { name: 'added' }]),
      EVENTUALLY,
    );
    await service.stop();
  });
});

const secs = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
