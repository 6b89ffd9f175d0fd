import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { isAlive } from '../../local/services/processes.fixture.ts';
import type { ServiceError } from '../../local/services/service-error.ts';
import { startService } from '../../local/services/service-process.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createDatabase } from '../harness/database.ts';
import {
  digestOf,
  EVENTUALLY,
  localCommand,
  readData,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
} from '../harness/local-service.ts';
import { startedWorld } from '../harness/open-world.ts';

const chain = startedWorld(() => startLocalChain({ onlyTrading: true }));
/** More than the disk that fills up has. */
const FULL_BYTES = 250_000_000;

/** Their settings, by the names of their bundles. */
function environmentsOf(parent: number): Readonly<Record<string, { readonly pid: number; readonly text: string }>> {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' }).split('\n');
  const found = rows.map((row) => /^ *(\d+) .*dist\/(\w+)\.mjs/.exec(row)).filter((match) => match !== null);
  return Object.fromEntries(
    found.map(([, pid, main]) => [main, { pid: Number(pid), text: readFileSync(`/proc/${pid}/environ`, 'utf8') }]),
  );
}

test.each(['serves', 'is filled'])(
  'a chains file that changes twice while the first index %s gets one all the same',
  {
    timeout: START_LIMIT_MS,
  },
  async (state) => {
    const proxy = await startRpcProxy(chain.anvil.url);
    onTestFinished(() => proxy.stop());
    const data = join(chain.temp, `twice-${state.length}`);
    const env = { RPC_OF_ONE: proxy.url };
    const file = JSON.parse(await readFile(chain.chains, 'utf8'));
    /** The same pools: its first block comes later, before there are any. */
    const optionsFrom = async (later: number): Promise<readonly string[]> => {
      const copy = structuredClone(file);
      for (const deployment of copy.chains[0].deployments) deployment.fromBlock += later;
      const path = join(chain.temp, `from-${later}.json`);
      await writeFile(path, JSON.stringify(copy));
      return ['--chains', path, '--data', data];
    };
    const indexes = async () => {
      const sql = "SELECT count(*) FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r'";
      return Number((await readData(data, sql)).count);
    };
    /** Begins an index and is stopped before that is filled. */
    const begin = async (options: readonly string[], count: number) => {
      const until = Promise.withResolvers<void>();
      proxy.misbehave({ kind: 'held', until: until.promise }, ({ method }) => method === 'eth_getLogs');
      const run = await startService({
        ...localCommand('start', options, env),
        ready: / API {2}/,
        startTimeoutMs: START_LIMIT_MS,
      });
      onTestFinished(run.stop);
      await vi.waitFor(async () => expect(await indexes()).toBe(count), EVENTUALLY);
      await run.stop();
      until.resolve();
      proxy.misbehave(null);
    };

    if (state === 'serves') await (await startLocal(chain, await optionsFrom(0), env)).stop();
    else await begin(await optionsFrom(0), 1);
    await begin(await optionsFrom(1), 2);
    await startLocal(chain, await optionsFrom(2), env);
    const filled = async () =>
      expect(await readFile(join(data, 'logs/backfill.log'), 'utf8')).toMatch(
        /Resuming "onchain_2".*Filling "onchain_2".*Readers are served from "onchain_2"/s,
      );
    await vi.waitFor(filled, EVENTUALLY);
    expect(await indexes()).toBe(2);
  },
);

test('a folder has one run, whose processes do not know its secret, and which a full disk and a silent node do not hold up', {
  timeout: START_LIMIT_MS,
}, async () => {
  const [proxy, database] = await Promise.all([startRpcProxy(chain.anvil.url), createDatabase()]);
  onTestFinished(async () => {
    await Promise.all([proxy.stop(), database.drop()]);
  });
  const data = join(chain.temp, 'one');
  const env = { RPC_OF_ONE: proxy.url, DATABASE_URL: database.url };
  await mkdir(join(data, 'logs'), { recursive: true });
  await symlink('/dev/full', join(data, 'logs/capture.log'));
  const run = await startLocal(chain, ['--chains', chain.chains, '--data', data], env);

  const secret = await readFile(join(data, 'secret'), 'utf8');
  const processes = environmentsOf(run.pid);
  expect(Object.keys(processes).sort()).toEqual(['api', 'builders', 'capture', 'indexer']);
  for (const [main, { text }] of Object.entries(processes)) {
    expect(text, main).toMatch(/REDIS_URL=redis:\/\/\w+:/);
    expect(text.includes(secret), main).toBe(false);
  }

  const files = async () => {
    const names = ['chains.json', 'settings.sh', 'redis/appendonlydir'].map((name) => join(data, name));
    return [await readdir(data), ...(await Promise.all(names.map(async (name) => (await stat(name)).mtimeMs)))];
  };
  const before = await files();
  const others = join(chain.temp, 'others.json');
  await writeFile(others, (await readFile(chain.chains, 'utf8')).replace('"one"', '"other"'));
  const second = localCommand('start', ['--chains', others, '--data', data], env);
  const refused = await startService({ ...second, ready: /never/ }).catch((error: ServiceError) => error.log);
  const line = `start: ${data} is in use by process ${run.pid}`;
  expect(String(refused).trim().split(/\s*\n/).sort()).toEqual(['Stopped.', line]);
  expect(await files()).toEqual(before);

  const full = /logs\/capture\.log lacks lines: ENOSPC/g;
  process.kill(processes.capture?.pid ?? 0, 'SIGKILL');
  const again = () => expect(environmentsOf(run.pid).capture?.pid).not.toBe(processes.capture?.pid);
  await vi.waitFor(again, EVENTUALLY);
  expect(run.recentOutput().match(full)).toHaveLength(1);

  proxy.misbehave({ kind: 'hanging' });
  process.kill(processes.indexer?.pid ?? 0, 'SIGKILL');
  await vi.waitFor(() => {
    const { indexer } = environmentsOf(run.pid);
    expect(indexer?.pid).toBeDefined();
    expect(indexer?.pid).not.toBe(processes.indexer?.pid);
  }, EVENTUALLY);
  const stoppedAt = performance.now();
  process.kill(run.pid, 'SIGTERM');
  expect(await run.ended).toBe('exit code 0');
  expect(performance.now() - stoppedAt).toBeLessThan(20_000);
  expect(await readdir(data)).not.toContain('lock');
});

test('a disk that fills up is named, and the service goes on once it has room; stores have logs', {
  timeout: START_LIMIT_MS,
  skip: process.getuid?.() !== 0,
}, async () => {
  const data = join(chain.temp, 'filled');
  await mkdir(data);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tmpfs', data]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', data]);
  });
  const run = await startLocal(chain, ['--chains', chain.chains, '--data', data]);
  const rows = await digestOf(data);
  const logOf = (store: string) => readFile(join(data, 'logs', `${store}.log`), 'utf8');
  expect(await logOf('postgres')).toContain('database system is ready to accept connections');
  expect(await logOf('redis')).toContain('Ready to accept connections');

  const filler = join(data, 'filler');
  await writeFile(filler, Buffer.alloc(FULL_BYTES)).catch((error: NodeJS.ErrnoException) => {
    expect(error.code).toBe('ENOSPC');
  });
  // The next file of its log has no room.
  const secret = await readFile(join(data, 'secret'), 'utf8');
  const settings = await readFile(join(data, 'settings.sh'), 'utf8');
  const url = Object.assign(new URL(/DATABASE_URL='([^']+)'/.exec(settings)?.[1] ?? ''), {
    username: 'postgres',
    password: secret,
  });
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => undefined);
  await client.connect();
  const use = async () => {
    for (;;)
      await client.query('SELECT pg_switch_wal(), pg_logical_emit_message(false, repeat($1, 1000000), $1)', ['x']);
  };
  await expect(use()).rejects.toThrow();
  const line = /^ {2}ended {2}postgres .*: no space left on the disk: starts again in \d+ s$/m;
  await vi.waitFor(() => expect(run.recentOutput()).toMatch(line), EVENTUALLY);
  await rm(filler);
  await vi.waitFor(async () => expect(await digestOf(data)).toEqual(rows), EVENTUALLY);
  await run.stop();
});

test('root leaves the folder of another user as it is', {
  timeout: START_LIMIT_MS,
  skip: process.getuid?.() !== 0,
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

/** A start whose check waits for a node that hangs. */
async function checkingStart(name: string, env: Readonly<Record<string, string>> = {}) {
  const proxy = await startRpcProxy(chain.anvil.url);
  onTestFinished(() => proxy.stop());
  proxy.misbehave({ kind: 'hanging' });
  const args = ['--chains', chain.chains, '--data', join(chain.temp, name)];
  return localCommand('start', args, { RPC_OF_ONE: proxy.url, ...env });
}

test('a check of the chains file that is killed does not pass', { timeout: START_LIMIT_MS }, async () => {
  const run = await startService({ ...(await checkingStart('killed-check')), ready: /Starting/ });
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
  const { command, args, cwd, env } = await checkingStart('ended-start', {
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

test('a restart without nodes lists what it had, and follows them once they answer', {
  timeout: START_LIMIT_MS,
}, async () => {
  const proxy = await startRpcProxy(chain.anvil.url);
  onTestFinished(() => proxy.stop());
  const data = join(chain.temp, 'silent');
  const env = { RPC_OF_ONE: proxy.url, PORT: String(await freePort()) };
  const totalOf = async () => {
    const url = `http://127.0.0.1:${env.PORT}/public/v1/evm/${chain.scenario.chainId}/metadata`;
    return ((await (await fetch(url)).json()) as { readonly total: number }).total;
  };
  const first = await startLocal(chain, ['--chains', chain.chains, '--data', data], env);
  await vi.waitFor(async () => expect(await totalOf()).toBeGreaterThan(0), EVENTUALLY);
  const total = await totalOf();
  await first.stop();

  proxy.misbehave({ kind: 'text', status: 403, body: 'Must be authenticated!' });
  const run = await startService({
    ...localCommand('start', ['--data', data], env),
    ready: / API {2}/,
    startTimeoutMs: START_LIMIT_MS,
  });
  onTestFinished(run.stop);
  const warning = `warning: chain ${chain.scenario.chainId}, ${proxy.url}: does not answer: status 403: Must be authenticated!`;
  expect(run.recentOutput()).toContain(`\n  ${warning}\n`);
  expect(await totalOf()).toBeGreaterThanOrEqual(total);
  proxy.misbehave(null);
  await vi.waitFor(() => expect(run.recentOutput()).toMatch(/ready: the index follows/), {
    timeout: START_LIMIT_MS,
    interval: 500,
  });
});
