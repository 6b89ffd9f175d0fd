import { execFileSync } from 'node:child_process';
import { appendFile, chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain, setBlockTime } from '../../devnet/dev-chain.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import type { PoolPlan } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { isAlive, processesOf } from '../../local/services/processes.fixture.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createDatabase } from '../harness/database.ts';
import {
  digestOf,
  EVENTUALLY,
  healthyQuote,
  keyOf,
  localCommand,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
  statusOfQuoteUpdate,
} from '../harness/local-service.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';

const chain = startedWorld(startLocalChain);

/** Kills a process that may have ended meanwhile, as a session of Postgres. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** All processes of a run, the watchdog of its services included. */
async function endAllAtOnce({ pid, ended }: ServiceProcess): Promise<void> {
  const pids = processesOf(pid);
  expect(pids.length).toBeGreaterThanOrEqual(7);
  for (const each of pids) endNow(each);
  await ended;
}

/** A second run of the folder leaves its chains alone. */
async function expectNoSecondRun(data: string): Promise<void> {
  const [own, others] = [join(data, 'chains.json'), join(chain.temp, 'others.json')];
  const before = await readFile(own, 'utf8');
  await writeFile(others, before.replace('"one"', '"other"'));
  const command = localCommand('start', ['--chains', others, '--data', data], { RPC_OF_ONE: chain.anvil.url });
  await expect(startService({ ...command, ready: /never/ })).rejects.toMatchObject({
    log: expect.stringMatching(/^start: \S+ is in use by process \d+$/m),
  });
  expect(await readFile(own, 'utf8')).toBe(before);
}

/** Ends capture and Postgres, which the run starts again. */
async function endParts({ pid, recentOutput }: ServiceProcess, data: string): Promise<void> {
  // Postgres says every ten seconds how long it recovers, and here every ten milliseconds.
  await appendFile(join(data, 'postgres/data/postgresql.auto.conf'), 'log_startup_progress_interval = 10\n');
  for (const [name, command] of [
    ['capture', 'dist/capture.mjs'],
    ['postgres', 'bin/postgres -D'],
  ] as const) {
    const part = processesOf(pid).find((it) => commandOf(it).includes(command));
    process.kill(part ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(recentOutput()).toMatch(`ended  ${name}`), EVENTUALLY);
  }
}

describe('npm start', { timeout: START_LIMIT_MS }, () => {
  test('serves a chain from nothing, and after the end of every process with the rows that it had', async () => {
    const { temp, chains } = chain;
    const data = join(temp, 'data');
    // A start that fails does not take the key from the first that succeeds.
    const gone = localCommand('start', ['--chains', chains, '--data', data], { RPC_OF_ONE: 'http://127.0.0.1:1' });
    await expect(startService({ ...gone, ready: /never/ })).rejects.toThrow('exit code 1');
    const startedAt = performance.now();
    const first = await startLocal(chain, ['--chains', chains, '--chain', 'one', '--data', data]);
    await healthyQuote(chain, first);
    const fromNothing = performance.now() - startedAt;
    const key = keyOf(first);
    expect(key).not.toBe('');
    await expectAnalyst(data);
    const rows = await digestOf(data);

    await endAllAtOnce(first);

    const againAt = performance.now();
    const second = await startLocal(chain, ['--data', data]);
    await healthyQuote(chain, second);
    // Blocks that are not final are indexed again.
    await vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);
    const again = performance.now() - againAt;
    expect(second.recentOutput()).not.toContain('ptd_');
    expect(await statusOfQuoteUpdate(second, key)).toBe(422);
    expect(await statusOfQuoteUpdate(second, `${key}x`)).toBe(401);
    process.stderr.write(`first healthy quote after ${secs(fromNothing)}, after kill -9 again after ${secs(again)}\n`);

    await expectNoSecondRun(data);
    await endParts(second, data);
    await vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);
    await healthyQuote(chain, second);
    expect(second.recentOutput()).toContain('postgres recovers what a crash left: 0 s');

    const last = processesOf(second.pid);
    process.kill(second.pid, 'SIGTERM');
    expect(await second.ended).toBe('exit code 0');
    // The watchdog ends once it sees that this one has.
    await vi.waitFor(() => expect(last.filter(isAlive)).toEqual([]), EVENTUALLY);
  });

  test('shows how far the first index of an added chain is, while the others go on', async () => {
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
    const data = join(chain.temp, 'added');
    await (await startLocal(chain, ['--chains', chain.chains, '--data', data])).stop();

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
    const run = await started;
    expect(await states()).toMatchObject([one, { ...one, name: 'added' }]);
    const indexed = async () => JSON.parse(await readFile(join(data, 'chains.json.indexed'), 'utf8')).chains;
    await vi.waitFor(
      async () => expect(await indexed()).toMatchObject([{ name: 'one' }, { name: 'added' }]),
      EVENTUALLY,
    );
    await run.stop();
  });

  test('uses stores and the interface that it is given, with a login for each process', async () => {
    const [database, redis] = await Promise.all([createDatabase(), createRedisDatabase()]);
    onTestFinished(async () => {
      await Promise.all([database.drop(), redis.drop()]);
    });
    const data = await openFolder('given-');
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, HOST: '127.0.0.2' };
    const run = await startLocal(chain, ['--chains', chain.chains, '--data', data], env);
    expect(run.recentOutput()).toMatch(/API +http:\/\/127\.0\.0\.2:/);
    await healthyQuote(chain, run);
    await expectAnalyst(data);
    expect((await readdir(data)).sort()).toEqual([
      'chains.json',
      'chains.json.indexed',
      'lock',
      'logs',
      'secret',
      'settings.sh',
    ]);
    const name = new URL(database.url).pathname.slice(1);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ login: string }>(
      'SELECT DISTINCT usename AS login FROM pg_stat_activity WHERE datname = $1 AND usename <> current_user ORDER BY 1',
      [name],
    );
    await client.end();
    expect(rows.map(({ login }) => login)).toEqual(
      ['api', 'builders', 'capture', 'indexer'].map((it) => `${name}_${it}`),
    );
    await run.stop();
  });
});

describe('what it cannot start with is one line', { timeout: START_LIMIT_MS }, () => {
  test.each<[string, () => Promise<Partial<Failing>>, RegExp]>([
    ['no chain is named', async () => ({ args: [] }), /^start: which chains\? --chain base takes one/],
    [
      'no such chain',
      async () => ({ args: ['--chain', 'moon'] }),
      /^start: --chain moon: \S+mainnet.json has ethereum \(1\), /,
    ],
    [
      'no such file',
      async () => ({ args: ['--chains', '/none.json'] }),
      /^start: --chains: cannot read \/none.json \(ENOENT\)$/,
    ],
    [
      'no URL',
      async () => ({ env: { RPC_OF_ONE: undefined } }),
      /^start: RPC_OF_ONE is not set: a URL of chain 31337 comes from it$/,
    ],
    [
      'a port that is taken',
      async () => ({ env: { PORT: String(await takenPort()) } }),
      /^start: port \d+ cannot be used \(it is in use\): set PORT to a free one, or to 0$/,
    ],
    [
      'an interface of another machine',
      async () => ({ env: { HOST: '1.2.3.4' } }),
      /^start: HOST: cannot listen on 1.2.3.4 \(EADDRNOTAVAIL\)$/,
    ],
    [
      'a folder below a virtual file system',
      async () => ({ data: '/proc/none/data' }),
      /^start: --data: \/proc\/none\/data cannot be used \(ENOENT\)$/,
    ],
    [
      'a node that wants a key',
      async () => ({ env: { RPC_OF_ONE: await closedNode() } }),
      /^start: chain 31337, http:\S+: does not answer: status 401: Must be authenticated with …!$/,
    ],
    [
      'a node of another chain',
      async () => ({ env: { RPC_OF_ONE: (await otherChain()).url } }),
      /^start: chain 31337, http:\S+: answers with chain id 5$/,
    ],
    [
      'a node that is gone',
      async () => ({ env: { RPC_OF_ONE: 'http://127.0.0.1:1' } }),
      /^start: chain 31337, http:\/\/127.0.0.1:1: does not answer: unreachable$/,
    ],
    [
      'a node that limits requests',
      async () => ({ env: { RPC_OF_ONE: await limitingNode() } }),
      /^start: chain 31337, http:\S+: does not answer: it limits requests \(status 429\)$/,
    ],
    [
      'a folder that Postgres cannot enter',
      async () => ({ data: await closedFolder() }),
      /^start: (Postgres cannot run as user \d+: it cannot enter \S+: name a folder with --data that it may enter)/,
    ],
    ['a database without a URL', async () => ({ env: { DATABASE_URL: 'pools' } }), /^start: DATABASE_URL: not a /],
    [
      'a Redis that is gone',
      async () => ({ env: { REDIS_URL: 'redis://127.0.0.1:1' }, exitCode: 75 }),
      /^start: REDIS_URL: connect ECONNREFUSED 127.0.0.1:1$/,
    ],
    [
      'a database that is gone',
      async () => ({ env: { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/pools' }, exitCode: 75 }),
      /^start: DATABASE_URL: the database is unreachable \(connect ECONNREFUSED 127.0.0.1:1\)$/,
    ],
    [
      'a full disk',
      async () => ({ data: fullDisk() }),
      /^start: making the data folder of Postgres failed \(exit code 1\): no space left on the disk$/,
    ],
  ])('%s', async (_, makeCase, line) => {
    const {
      args = ['--chains', chain.chains],
      data = await openFolder('fails-'),
      env = {},
      exitCode = 1,
    } = await makeCase();
    const failed = await startService({
      ...localCommand('start', [...args, '--data', data], { RPC_OF_ONE: chain.anvil.url, ...env }),
      ready: /never/,
    }).catch((error: { message: string; log: string }) => error);
    if (!('log' in failed)) throw new Error('it started');
    expect(failed.message).toBe(`start ended while starting (exit code ${exitCode})`);
    const lines = failed.log.split('\n').filter((text) => text.startsWith('start: '));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(line);
    expect(failed.log).not.toMatch(/ at .*:\d+:\d+/);
  });
});

interface Failing {
  readonly args: readonly string[];
  readonly data: string;
  readonly exitCode: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const secs = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** The login for people and the export reads the data, and nothing of the operator's. */
async function expectAnalyst(data: string): Promise<void> {
  const settings = await readFile(join(data, 'settings.sh'), 'utf8');
  const [, url = ''] = /ANALYST_DATABASE_URL='([^']+)'/.exec(settings) ?? [];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int FROM read_model.pool');
  expect(rows).toEqual([{ count: expect.toSatisfy((count) => count > 0) }]);
  await expect(client.query('SELECT FROM operator.api_key')).rejects.toThrow('permission denied');
  await client.end();
  const days = ['--view', 'pool_day', '--from', '2026-01-01', '--to', '2026-01-02'];
  const args = [...days, '--format', 'csv', '--out', join(data, '../exported'), '--json'];
  const { command, args: all, cwd, env } = localCommand('export', args, { DATABASE_URL: url });
  const output = execFileSync(command, all, { cwd, env, encoding: 'utf8' });
  expect(output).toContain('"type":"end"');
}

const commandOf = (pid: number): string => execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as { port: number }).port;
}

async function otherChain(): Promise<Anvil> {
  const other = await startAnvil({ chainId: 5 });
  onTestFinished(() => other.stop());
  return other;
}

async function limitingNode(): Promise<string> {
  const proxy = await startRpcProxy(chain.anvil.url);
  proxy.misbehave({ kind: 'freePlan', perSec: 0, logBlocks: 500, refusal: '' });
  onTestFinished(() => proxy.stop());
  return proxy.url;
}

async function closedNode(): Promise<string> {
  const proxy = await startRpcProxy(chain.anvil.url);
  proxy.misbehave({ kind: 'text', status: 401, body: 'Must be authenticated with key-of-a-node!' });
  onTestFinished(() => proxy.stop());
  return `${proxy.url}/v2/key-of-a-node`;
}

async function openFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(chain.temp, name));
  await chmod(folder, 0o755);
  return folder;
}

async function closedFolder(): Promise<string> {
  const folder = await mkdtemp(join(chain.temp, 'closed-'));
  return join(folder, 'data'); // For its owner alone.
}

/** A file system with room for half a cluster. */
function fullDisk(): string {
  const folder = join(chain.temp, 'full');
  execFileSync('mkdir', [folder]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=755', 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
  });
  return folder;
}
