import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { freePort } from '../../runtime/free-port.ts';
import { onFreePort } from './on-free-port.ts';
import { startPostgres } from './postgres.ts';
import { isAlive } from './processes.fixture.ts';
import { startRedis } from './redis.ts';
import { ServiceError } from './service-error.ts';
import { startService } from './service-process.ts';

describe('crash and restart', () => {
  test('Postgres keeps its data and its port', async () => {
    const postgres = await startPostgres();
    await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await query(postgres.url, 'CHECKPOINT');
    await postgres.kill();
    await expect(query(postgres.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await postgres.restart();
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    await expect(query(postgres.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  test.runIf(process.platform === 'linux')('Postgres with data that are kept may take long to start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'slow-postgres-'));
    await chmod(folder, 0o755); // Postgres runs as another user when this is root.
    const postgres = await startPostgres({ kept: { folder: join(folder, 'postgres'), password: 'p' } });
    await postgres.kill();
    // It waits for what it reads at its start.
    const access = join(folder, 'postgres/data/pg_hba.conf');
    const rules = await readFile(access);
    await rm(access);
    execFileSync('mkfifo', ['-m', '666', access]);
    const restarted = postgres.restart();
    // Opens once Postgres reads it.
    const opened = await open(access, 'w');
    const clock = vi
      .spyOn(Date, 'now')
      .mockImplementation(() => performance.timeOrigin + performance.now() + 3_600_000);
    // Whether it is ready was looked at again.
    await vi.waitUntil(() => clock.mock.calls.length > 3);
    await opened.writeFile(rules);
    await opened.close();
    await restarted;
    vi.restoreAllMocks();
    expect(await query(postgres.url, 'SELECT 42 AS answer')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    await rm(folder, { recursive: true });
  });

  test.each([true, false])('Redis that is durable (%s) keeps its data accordingly', async (durable) => {
    const redis = await startRedis({ durable });
    await command(redis.url, (client) => client.set('key', 'value'));
    await redis.kill();
    await redis.restart();
    expect(await command(redis.url, (client) => client.get('key'))).toBe(durable ? 'value' : null);
    await redis.stop();
  });
});

test('Redis with data that are kept goes on with them under another password', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kept-redis-'));
  const start = (password: string) => startRedis({ durable: true, prefix: 'it', kept: { folder, password } });
  const first = await start('one');
  await command(first.url, (client) => client.set('it:key', 'value'));
  const nobody = `redis://127.0.0.1:${first.port}`;
  expect(await command(nobody, (client) => client.ping())).toBe('PONG');
  await expect(command(nobody, (client) => client.get('it:key'))).rejects.toThrow('NOPERM');
  await first.stop();
  const second = await start('two');
  expect(await command(second.url, (client) => client.get('it:key'))).toBe('value');
  await second.stop();
  await rm(folder, { recursive: true });
});

const ANYBODY = '0x000000000000000000000000000000000000dEaD';

describe('anvil', () => {
  test('has the chain id and mines at the block time asked for', async () => {
    const anvil = await startAnvil({ chainId: 31338, blockTimeSecs: 1 });
    expect(await rpc(anvil.url, 'eth_chainId')).toBe('0x7a6a');
    await vi.waitFor(async () => expect(Number(await rpc(anvil.url, 'eth_blockNumber'))).toBeGreaterThan(0));
    await anvil.stop();
    await anvil.stop(); // A second call is harmless.
    expect(isAlive(anvil.pid)).toBe(false);
  });

  test('keeps as many states as asked for, every block, and nothing on disk', async () => {
    const temp = await mkdtemp(join(tmpdir(), 'anvil-test-'));
    vi.stubEnv('TMPDIR', temp);
    const anvil = await startAnvil({ chainId: 31337, keptStates: 50 });
    vi.unstubAllEnvs();
    await rpc(anvil.url, 'anvil_mine', ['0x1f4']);
    const balanceAt = (block: number) => rpc(anvil.url, 'eth_getBalance', [ANYBODY, `0x${block.toString(16)}`]);
    expect(await balanceAt(451)).toBe('0x0');
    expect(await balanceAt(449)).toBeUndefined();
    expect(await rpc(anvil.url, 'eth_getBlockByNumber', ['0x1', false])).toMatchObject({ number: '0x1' });
    expect(await rpc(anvil.url, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])).toEqual([]);
    const files = await readdir(temp, { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile())).toEqual([]);
    await anvil.stop();
    expect(await readdir(temp)).toEqual([]);
    await rm(temp, { recursive: true });
  });

  test('says so when its port is taken', async () => {
    const first = await startAnvil({ chainId: 1 });
    const second = startAnvil({ chainId: 1, port: first.port });
    await expect(second).rejects.toMatchObject({ portTaken: true, message: expect.stringContaining('exit code 1') });
    await first.stop();
  });
});

describe('a service that does not come up', () => {
  const shell = (script: string, startTimeoutMs?: number) =>
    startService({ name: 'a script', command: 'sh', args: ['-c', script], ready: /ready/, startTimeoutMs });

  test('an early end is reported with the exit code and the last lines', async () => {
    const failed = shell('echo the reason >&2; exit 3');
    await expect(failed).rejects.toMatchObject({
      message: 'a script ended while starting (exit code 3)',
      log: 'the reason\n',
    });
  });

  test('one that is never ready is ended', async () => {
    const error = await shell('echo $$; exec sleep 1000', 5_000).catch((caught: ServiceError) => caught);
    expect(error).toMatchObject({ message: 'a script was not ready after 5 s', log: expect.stringMatching(/^\d+\n$/) });
    expect(isAlive(Number((error as ServiceError).log))).toBe(false);
  });

  test('the exit code is that of a process which ended by itself, not of one that was stopped', async () => {
    const exitCodeOf = (script: string, limitMs?: number) =>
      shell(script, limitMs).catch((error: ServiceError) => error.exitCode);
    const stopped = "trap 'exit 75' TERM; while :; do sleep 0.1; done";
    expect(await Promise.all([exitCodeOf('exit 75'), exitCodeOf(stopped, 1_000)])).toEqual([75, null]);
  });

  test('a command that does not exist is one line', async () => {
    const missing = startService({ name: 'it', command: '/no/such/command', args: [], ready: /listening/ });
    await expect(missing).rejects.toThrow('it ended while starting (exit code 127)');
  });

  test('one that ignores SIGTERM is forced, its children too', async () => {
    const child = 'setInterval(() => {}, 1000)';
    const script = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);
      const child = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}]); console.log("ready", child.pid)`;
    const options = { command: process.execPath, args: ['-e', script], ready: /ready/, stopTimeoutMs: 200 };
    const service = await startService({ name: 'a script', ...options });
    const grandchild = Number(service.recentOutput().split(' ')[1]);
    expect(isAlive(grandchild)).toBe(true);
    await service.stop();
    expect(isAlive(service.pid)).toBe(false);
    await vi.waitFor(() => expect(isAlive(grandchild)).toBe(false));
  });
});

test('free ports differ, and none is of those that the system gives to whoever asks for any', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

test('a port lost to another process is given up for a new one', async () => {
  const tried: number[] = [];
  const taken = await onFreePort(async (port) => {
    tried.push(port);
    if (tried.length > 1) return port;
    throw new ServiceError('it ended', 'bind: Address already in use');
  });
  expect(tried).toHaveLength(2);
  expect(taken).not.toBe(tried[0]);
  await new Promise<void>((resolve) => {
    const server = createServer().listen(taken, '127.0.0.1', () => server.close(() => resolve()));
  });
});

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // The server is killed on purpose.
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function command<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function rpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await response.json()) as { result: unknown }).result;
}
