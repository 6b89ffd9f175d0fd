import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createPoolTradingDataClient } from '../client/client.ts';
import { isAlive } from '../devnet/services/processes.fixture.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const START_LIMIT_MS = 150_000;
const STOP_LIMIT_MS = 30_000;

const run = promisify(execFile);

/** The demo's temporary folders lie here, so that those of other tests are not counted. */
let temp: string;
const demos: ChildProcess[] = [];

beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'demo-test-'));
  await chmod(temp, 0o755); // Postgres runs as another user when this is root.
});
afterEach(() => {
  for (const demo of demos.splice(0)) demo.kill('SIGKILL');
});
afterAll(() => rm(temp, { recursive: true, force: true }));

describe('npm run demo', { timeout: START_LIMIT_MS + 2 * STOP_LIMIT_MS }, () => {
  test('comes up, answers the lines that it prints, trades, and leaves nothing after Ctrl-C', async () => {
    const logs = join(temp, 'logs');
    const demo = startDemo(['--rate', '5', '--logs', logs]);
    await demo.prints('Ctrl-C stops everything');
    const groups = processGroupsOf(demo.child.pid);
    expect(groups.length).toBeGreaterThanOrEqual(8);

    const answers = await Promise.all(curlLines(demo.output()).map(runLine));
    expect(answers[0]).toEqual([
      { chainId: 31337, name: 'devnet-a' },
      { chainId: 31338, name: 'devnet-b' },
    ]);
    expect(answers[1]).toMatchObject({ data: [{ chain: 'devnet-a' }, { chain: 'devnet-a' }], nextOffset: 2 });
    expect(answers[2]).toMatchObject({ priceProviderStatus: 'healthy', bidAdj: expect.stringMatching(/^\d{10,}$/) });

    const api = demo.output().match(/API +(http:\S+)/)?.[1] ?? '';
    const key = demo.output().match(/API key +(\S+)/)?.[1];
    expect(await statusOfEmptyQuoteUpdate(api, key)).toBe(422);
    expect(await statusOfEmptyQuoteUpdate(api, `${key}x`)).toBe(401);
    for (const chainId of [31337, 31338]) {
      const before = await reservesOf(api, chainId);
      expect(before.length).toBeGreaterThanOrEqual(14);
      await vi.waitFor(async () => expect(await reservesOf(api, chainId)).not.toEqual(before), {
        timeout: 60_000,
        interval: 1_000,
      });
    }

    demo.child.kill('SIGINT');
    expect(await demo.exitCode()).toBe(0);
    expect(groups.filter(isAlive)).toEqual([]);
    expect(await demoFolders()).toEqual([]);
    await expect(fetch(api)).rejects.toThrow();
    expect((await readdir(logs)).sort()).toEqual(['api.log', 'builders.log', 'capture.log', 'indexer.log']);
  });

  test('leaves nothing when it is killed half-way up', async () => {
    const demo = startDemo([]);
    await demo.prints('ready  postgres');
    const groups = processGroupsOf(demo.child.pid);
    demo.child.kill('SIGKILL');
    await vi.waitFor(() => expect(groups.filter(isAlive)).toEqual([]), { timeout: STOP_LIMIT_MS });
    await vi.waitFor(async () => expect(await demoFolders()).toEqual([]), { timeout: STOP_LIMIT_MS });
  });

  test('stops by itself after the time it was given, even while it is starting', async () => {
    const demo = startDemo(['--duration', '4']);
    expect(await demo.exitCode()).toBe(0);
    expect(demo.output()).toMatch(/Stopping \(4 s are over\) \.\.\.\nStopped\.\n$/);
    expect(demo.errors()).toBe('');
    expect(await demoFolders()).toEqual([]);
  });

  test('names the setting when a port is in use, in one line', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const demo = startDemo([], { PORT: String(port) });
    expect(await demo.exitCode()).toBe(1);
    expect(demo.errors()).toBe(`demo: port ${port} cannot be used (it is in use): set PORT to a free one, or to 0\n`);
    server.close();
  });

  test('has help, and refuses an option that makes no sense', async () => {
    const help = startDemo(['--help']);
    expect(await help.exitCode()).toBe(0);
    expect(help.output()).toMatch(/--duration <seconds>[\s\S]+INDEXER_PORT/);
    const wrong = startDemo(['--duration', 'soon']);
    expect(await wrong.exitCode()).toBe(1);
    expect(wrong.errors()).toContain("argument 'soon' is invalid");
  });
});

function startDemo(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'devnet/demo/main.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: temp, PORT: '0', INDEXER_PORT: '0', ...env },
  });
  demos.push(child);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const prints = (text: string) =>
    vi.waitFor(
      () => {
        if (child.exitCode !== null) throw new Error(`the demo ended: ${output}${errors}`);
        expect(output).toContain(text);
      },
      { timeout: START_LIMIT_MS },
    );
  return { child, prints, exitCode: () => ended, output: () => output, errors: () => errors };
}

/** Leaders of the groups that the demo started, but for the watchdog, which ends a moment after the demo. */
function processGroupsOf(pid: number | undefined): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line && !/watchdog|\bps -o\b/.test(line)).map((line) => Number.parseInt(line, 10));
}

async function demoFolders(): Promise<string[]> {
  return (await readdir(temp)).filter((name) => name.startsWith('pool-api-'));
}

function curlLines(output: string): string[] {
  return [...output.matchAll(/^ +(curl .+)$/gm)].map((match) => match[1] ?? '');
}

async function runLine(line: string): Promise<unknown> {
  const { stdout } = await run('sh', ['-c', line]);
  return JSON.parse(stdout);
}

/** Sent as it is: the typed client has no way to leave required fields out. */
async function statusOfEmptyQuoteUpdate(api: string, key: string | undefined): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${api}/public/v1/evm/31337/pamm-quote`, { method: 'POST', headers, body: '{}' });
  await response.body?.cancel();
  return response.status;
}

/** What every funded pool of a chain holds, as the listing says. */
async function reservesOf(api: string, chainId: number): Promise<unknown[]> {
  const params = { path: { chain_id: chainId }, query: { count: 500, minTvlFiat: 0, include24h: true } };
  const { data } = await createPoolTradingDataClient(api).GET('/public/v1/evm/{chain_id}/metadata', { params });
  return (data?.data ?? []).map((pool) => [pool.poolAddress, pool.analytics24h?.token0, pool.analytics24h?.token1]);
}
