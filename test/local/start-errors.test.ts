import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { isAlive } from '../../local/services/processes.fixture.ts';
import type { ServiceError } from '../../local/services/service-error.ts';
import { startService } from '../../local/services/service-process.ts';
import { EVENTUALLY, localCommand, START_LIMIT_MS, startLocalChain } from '../harness/local-service.ts';
import { startedWorld } from '../harness/open-world.ts';
import { isRoot } from './start-faults.ts';
import { otherChain } from './start-places.ts';

const chain = startedWorld(() => startLocalChain({ onlyTrading: true }));
/** Of all: making its Postgres takes half of a start that fails, and no start gets so far that it keeps chains. */
const folder = () => join(chain.temp, 'fails');

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
    const { args = ['--chains', chain.chains], data = folder(), env = {}, exitCode = 1 } = await makeCase();
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

test('root leaves the folder of another user as it is', {
  timeout: START_LIMIT_MS,
  skip: !isRoot,
}, async () => {
  const data = join(chain.temp, 'of-user');
  const paths = ['.', 'secret', 'redis', 'postgres', 'postgres/data'].map((name) => join(data, name));
  await mkdir(join(data, 'postgres/data'), { recursive: true });
  await mkdir(join(data, 'redis'));
  await writeFile(join(data, 'secret'), 'ab'.repeat(24));
  for (const path of paths) await chown(path, 12_345, 12_345);
  const state = async () => [
    await readdir(data, { recursive: true }),
    await Promise.all(paths.map(async (path) => [path, (await stat(path)).uid])),
  ];
  const before = await state();
  const command = localCommand('start', ['--chains', chain.chains, '--data', data], { RPC_OF_ONE: chain.anvil.url });
  const refused = await startService({ ...command, ready: /never/ }).catch((error: ServiceError) => error.log);
  const line = `start: --data: ${data} is of user 12345: run this as that user, or name another folder`;
  expect(String(refused).trim().split(/\s*\n/).sort()).toEqual(['Stopped.', line]);
  expect(await state()).toEqual(before);
});

/** Number of the process that checks the chains file for a start. */
async function checkOf(parent: number): Promise<number> {
  const list = () => execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' });
  return vi.waitFor(() => {
    const [, pid] = /^ *(\d+) .*config-check\.mjs/m.exec(list()) ?? [];
    expect(pid).toBeDefined();
    return Number(pid);
  }, EVENTUALLY);
}

/** Starts whose checks wait for a node that hangs. */
async function checkingStart(data: string, env: Readonly<Record<string, string>> = {}) {
  const proxy = await startRpcProxy(chain.anvil.url);
  proxy.misbehave({ kind: 'hanging' });
  onTestFinished(() => proxy.stop());
  return localCommand('start', ['--chains', chain.chains, '--data', data], { RPC_OF_ONE: proxy.url, ...env });
}

test('a check of the chains file that is killed does not pass', { timeout: START_LIMIT_MS }, async () => {
  const run = await startService({ ...(await checkingStart(folder())), ready: /Starting/ });
  onTestFinished(run.stop);
  process.kill(await checkOf(run.pid), 'SIGKILL');
  expect(await run.ended).toBe('exit code 1');
  expect(run.recentOutput()).toContain('start: the check of the chains file failed (signal SIGKILL)\n');
});

test('a check of the chains file ends with its start', { timeout: START_LIMIT_MS }, async () => {
  const isSeen = Promise.withResolvers<void>();
  const database = createServer((socket) => void isSeen.promise.then(() => socket.destroy())).listen(0, '127.0.0.1');
  await once(database, 'listening');
  onTestFinished(() => {
    database.close();
  });
  const { port } = database.address() as AddressInfo;
  const { command, args, cwd, env } = await checkingStart(join(chain.temp, 'ended-start'), {
    DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/pools`,
  });
  // In the group of this process: a service of ours would take its group along.
  const run = spawn(command, args, { cwd, env, stdio: 'ignore' });
  const ended = once(run, 'exit');
  const check = await checkOf(run.pid ?? 0);
  isSeen.resolve();
  expect(await ended).toEqual([75, null]);
  expect(isAlive(check)).toBe(false);
});

interface Failing {
  readonly args: readonly string[];
  readonly data: string;
  readonly exitCode: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as { port: number }).port;
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
