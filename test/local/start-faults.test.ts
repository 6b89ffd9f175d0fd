import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rm, stat, statfs, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { isAlive } from '../../local/services/processes.fixture.ts';
import type { ServiceError } from '../../local/services/service-error.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { freePort } from '../../runtime/free-port.ts';
import {
  digestOf,
  EVENTUALLY,
  localCommand,
  localStarter,
  START_LIMIT_MS,
  startLocalChain,
  wholeDigestOf,
} from '../harness/local-service.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';

const chain = startedWorld(() => startLocalChain({ onlyTrading: true }));
const proxy = startedWorld(() => startRpcProxy(chain.anvil.url));
const isRoot = process.getuid?.() === 0;

/** Where the service of the first tests keeps its data: where that is possible, on a disk of its own. */
const folder = openWorld(async (ends) => {
  const data = join(chain.temp, 'data');
  await mkdir(data);
  if (isRoot) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', data]);
    ends.defer(() => {
      execFileSync('umount', ['-l', data]);
    });
  }
  await mkdir(join(data, 'logs'));
  await symlink('/dev/full', join(data, 'logs/capture.log'));
  return { data, env: { RPC_OF_ONE: proxy.url, PORT: String(await freePort()) } };
});
const startForTests = localStarter();

/** Number of listed pools. */
async function totalListed(): Promise<number> {
  const url = `http://127.0.0.1:${folder.env.PORT}/public/v1/evm/${chain.scenario.chainId}/metadata`;
  return ((await (await fetch(url)).json()) as { readonly total: number }).total;
}

/** Their settings, by the names of their bundles. */
function environmentsOf(parent: number): Readonly<Record<string, { readonly pid: number; readonly text: string }>> {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' }).split('\n');
  const found = rows.map((row) => /^ *(\d+) .*dist\/(\w+)\.mjs/.exec(row)).filter((match) => match !== null);
  return Object.fromEntries(
    found.map(([, pid, main]) => [main, { pid: Number(pid), text: readFileSync(`/proc/${pid}/environ`, 'utf8') }]),
  );
}

describe('a service', { timeout: START_LIMIT_MS }, () => {
  let run: ServiceProcess;
  let rows: Awaited<ReturnType<typeof digestOf>>;

  test('has its folder alone, and processes that do not know its secret, and goes on when a log is full', async () => {
    const { data, env } = folder;
    run = await startForTests(chain, ['--chains', chain.chains, '--data', data], env);
    rows = await wholeDigestOf(chain, data);
    const secret = await readFile(join(data, 'secret'), 'utf8');
    const processes = await vi.waitFor(() => {
      const found = environmentsOf(run.pid);
      expect(Object.keys(found).sort()).toEqual(['api', 'builders', 'capture', 'indexer']);
      return found;
    }, EVENTUALLY);
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
    const second = localCommand('start', ['--chains', others, '--data', data], { ...env, PORT: '0' });
    const refused = await startService({ ...second, ready: /never/ }).catch((error: ServiceError) => error.log);
    const line = `start: ${data} is in use by process ${run.pid}`;
    expect(String(refused).trim().split(/\s*\n/).sort()).toEqual(['Stopped.', line]);
    expect(await files()).toEqual(before);

    const full = /logs\/capture\.log lacks lines: ENOSPC/g;
    process.kill(processes.capture?.pid ?? 0, 'SIGKILL');
    const again = () => expect(environmentsOf(run.pid).capture?.pid).not.toBe(processes.capture?.pid);
    await vi.waitFor(again, EVENTUALLY);
    expect(run.recentOutput().match(full)).toHaveLength(1);
  });

  test('names a disk that fills up, and goes on once it has room; its stores have logs', {
    skip: !isRoot,
  }, async () => {
    const { data } = folder;
    const logOf = (store: string) => readFile(join(data, 'logs', `${store}.log`), 'utf8');
    expect(await logOf('postgres')).toContain('database system is ready to accept connections');
    expect(await logOf('redis')).toContain('Ready to accept connections');

    const filler = join(data, 'filler');
    const { bavail, bsize } = await statfs(data);
    await writeFile(filler, Buffer.alloc((bavail + 1) * bsize)).catch((error: NodeJS.ErrnoException) => {
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
  });

  test('ends when it is stopped, whatever its nodes do', async () => {
    const indexer = () =>
      vi.waitFor(() => {
        const pid = environmentsOf(run.pid).indexer?.pid;
        expect(pid).toBeDefined();
        return pid ?? 0;
      }, EVENTUALLY);
    const before = await indexer();
    proxy.misbehave({ kind: 'hanging' });
    process.kill(before, 'SIGKILL');
    await vi.waitFor(async () => expect(await indexer()).not.toBe(before), EVENTUALLY);
    const stoppedAt = performance.now();
    process.kill(run.pid, 'SIGTERM');
    expect(await run.ended).toBe('exit code 0');
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    expect(await readdir(folder.data)).not.toContain('lock');
  });

  test('lists what it had after a restart without nodes, and follows them once they answer', async () => {
    proxy.misbehave({ kind: 'text', status: 403, body: 'Must be authenticated!' });
    const again = await startService({
      ...localCommand('start', ['--data', folder.data], folder.env),
      ready: / API {2}/,
      startTimeoutMs: START_LIMIT_MS,
    });
    onTestFinished(again.stop);
    const warning = `warning: chain ${chain.scenario.chainId}, ${proxy.url}: does not answer: status 403: Must be authenticated!`;
    expect(again.recentOutput()).toContain(`\n  ${warning}\n`);
    // What was not final is indexed again, once they answer.
    expect(await totalListed()).toBeGreaterThan(0);
    proxy.misbehave(null);
    await vi.waitFor(() => expect(again.recentOutput()).toMatch(/ready: the index follows/), {
      timeout: START_LIMIT_MS,
      interval: 500,
    });
    await vi.waitFor(async () => expect(await digestOf(folder.data)).toEqual(rows), EVENTUALLY);
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
function checkingStart(data: string, env: Readonly<Record<string, string>> = {}) {
  proxy.misbehave({ kind: 'hanging' });
  onTestFinished(() => proxy.misbehave(null));
  return localCommand('start', ['--chains', chain.chains, '--data', data], { RPC_OF_ONE: proxy.url, ...env });
}

test('a check of the chains file that is killed does not pass', { timeout: START_LIMIT_MS }, async () => {
  const run = await startService({ ...checkingStart(folder.data), ready: /Starting/ });
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
  const { command, args, cwd, env } = checkingStart(join(chain.temp, 'ended-start'), {
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
