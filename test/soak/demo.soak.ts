import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { isAlive } from '../../local/services/processes.fixture.ts';
import { startService } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { expectClientExamples } from '../client/run-examples.ts';
import { expectNewcomersWalk } from '../explorer/newcomers-walk.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import { openWorld } from '../harness/open-world.ts';
import { staleShare } from '../stream/stale-share.ts';
import { expectProgramsToTrade } from '../takers/demo-programs.ts';
import { IS_LONG } from './settings.ts';

const START_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 30_000;
const FOLLOWED_MS = 60_000;
const LIVE_PAIR = 'DUO/UNO';

const run = promisify(execFile);

/** The demo's temporary folders lie here, so that those of other tests are not counted. */
const temp = openWorld(async (ends) => {
  const folder = ends.adopt(await createTempFolder('demo-test'), ({ remove }) => remove());
  await chmod(folder.path, 0o755); // Postgres runs as another user when this is root.
  return folder;
});
const demos: ChildProcess[] = [];
afterEach(() => {
  for (const demo of demos.splice(0)) demo.kill('SIGKILL');
});

describe('npm run demo', { timeout: START_LIMIT_MS + 2 * STOP_LIMIT_MS }, () => {
  test.each(IS_LONG ? [1, 2] : [1])(
    'comes up, serves the lines that it prints, trades, and leaves nothing after Ctrl-C (%i)',
    async () => {
      const logs = join(temp.path, 'logs');
      const demo = startDemo(['--rate', '5', '--logs', logs]);
      await demo.prints('Ctrl-C stops everything');
      const groups = processGroupsOf(demo.child.pid);
      expect(groups.length).toBeGreaterThanOrEqual(8);

      const live = await listedLivePools(demo.output());
      const meanwhile = Promise.all([expectNothingStale(demo.output()), expectProgramsToTrade(demo.output(), live)]);
      await expectExamplesToWork(demo.output());
      await expectNewcomersWalk(demo.output());
      await expectAnotherApiToReachTheBuilders(demo.output());
      // A route that traffic overtakes may fail: a matter of long runs.
      if (IS_LONG) await expectClientExamples(demo.output(), await mkdtemp(join(temp.path, 'client-')));

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

      await meanwhile;
      demo.child.kill('SIGINT');
      expect(await demo.exitCode()).toBe(0);
      expect(groups.filter(isAlive)).toEqual([]);
      expect(await demoFolders()).toEqual([]);
      await expect(fetch(api)).rejects.toThrow();
      expect((await readdir(logs)).sort()).toEqual(['api.log', 'builders.log', 'capture.log', 'indexer.log']);
    },
  );

  test('leaves nothing when it is killed half-way up', async () => {
    const demo = startDemo([]);
    await demo.prints('ready  postgres');
    const groups = processGroupsOf(demo.child.pid);
    demo.child.kill('SIGKILL');
    await vi.waitFor(() => expect(groups.filter(isAlive)).toEqual([]), { timeout: STOP_LIMIT_MS });
    await vi.waitFor(async () => expect(await demoFolders()).toEqual([]), { timeout: STOP_LIMIT_MS });
  });

  test('stops when npm is stopped', async () => {
    const demo = startDemo([], {}, ['npm', 'run', 'demo', '--']);
    await demo.prints('ready  redis');
    demo.child.kill('SIGTERM');
    await demo.exitCode();
    expect(demo.output()).toMatch(/Stopping \(SIGTERM\) \.\.\.\nStopped\.\n$/);
    expect(await demoFolders()).toEqual([]);
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

  test('names the setting when Redis or the folder for logs cannot be used, in one line', async () => {
    const unreachable = startDemo([], { REDIS_URL: 'redis://:secret@127.0.0.1:1' });
    expect(await unreachable.exitCode()).toBe(75);
    expect(unreachable.errors()).toBe('demo: REDIS_URL: connect ECONNREFUSED 127.0.0.1:1\n');
    const logs = startDemo(['--logs', '/dev/null/logs']);
    expect(await logs.exitCode()).toBe(1);
    expect(logs.errors()).toBe('demo: --logs: cannot write to /dev/null/logs (ENOTDIR)\n');
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

const DEMO = [process.execPath, ...ownMain('demo')];

function startDemo(args: readonly string[], env: NodeJS.ProcessEnv = {}, [command = '', ...own] = DEMO) {
  const child = spawn(command, [...own, ...args], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, TMPDIR: temp.path, PORT: '0', INDEXER_PORT: '0', ...env },
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

/** Leaders of the groups that the demo started, but for the watchdog, which ends shortly after the demo. */
function processGroupsOf(pid: number | undefined): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line && !/watchdog|\bps -o\b/.test(line)).map((line) => Number.parseInt(line, 10));
}

async function demoFolders(): Promise<string[]> {
  return (await readdir(temp.path)).filter((name) => name.startsWith('pool-api-'));
}

/** Runs the lines as they are printed, one after the other: the last one looks at what those before it did. */
async function expectExamplesToWork(output: string): Promise<void> {
  const answers: unknown[] = [];
  for (const [, line = ''] of output.matchAll(/^ +(curl .+)$/gm)) {
    if (line.endsWith('/pamm-quote')) await expectToReachFiveBuilders(line);
    else if (line.includes('basis=live')) await expectLivePrice(line);
    else answers.push(JSON.parse(await runLine(line)));
  }
  const [chains, listing, quote, batch, route, received] = answers;
  expect(chains).toEqual([
    { chainId: 31337, name: 'devnet-a' },
    { chainId: 31338, name: 'devnet-b' },
  ]);
  expect(listing).toMatchObject({ data: [{ chain: 'devnet-a' }, { chain: 'devnet-a' }], nextOffset: 2 });
  expect(quote).toMatchObject({ priceProviderStatus: 'healthy', bidAdj: expect.stringMatching(/^\d{10,}$/) });
  const prices = { quote: { bidAdj: expect.stringMatching(/^\d+$/), depth: null } };
  expect(batch).toMatchObject({ results: [prices, prices, prices] });
  expect(route).toMatchObject({ tradeType: 'exact_in', amountOut: expect.stringMatching(/^\d{9,}$/) });
  expect(received).toContainEqual(expect.objectContaining({ replacementSeqNumber: '1', blockNumber: '1000000' }));

  const operatorLine = / +(\. \S+ && npm run status)$/m.exec(output)?.[1] ?? '';
  expect(await runLine(operatorLine)).toMatch(/^CHAIN .+\n31337 .+\n31338 .+\n$/m);
}

/**
 * An API started with the printed settings hands quote updates to the demo's own worker,
 * and serves no web page when told so.
 */
async function expectAnotherApiToReachTheBuilders(output: string): Promise<void> {
  const [, base = ''] = /API +(http:\S+)/.exec(output) ?? [];
  const [, submission = ''] = /^ +(curl .+\/pamm-quote)$/m.exec(output) ?? [];
  const [, settings = ''] = / +\. (\S+) && npm run status$/m.exec(output) ?? [];
  await onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const api = await startService({
      name: 'another API',
      command: 'sh',
      args: ['-c', `. ${settings} && PORT=${port} HOST=127.0.0.1 EXPLORER=off exec node dist/api.mjs`],
      cwd: PROJECT_ROOT,
      ready: /listening/,
    });
    try {
      await expectToReachFiveBuilders(submission.replace(base, url));
      expect([(await fetch(url)).status, (await fetch(`${url}/docs`)).status]).toEqual([404, 200]);
    } finally {
      await api.stop();
    }
  });
}

/** Sends the same update until all builders have it within 500 ms: on a busy machine answers are pending by then. */
async function expectToReachFiveBuilders(line: string): Promise<void> {
  const accepted = { accepted: true, providers: Array(5).fill({ accepted: true }) };
  const send = async () => expect(JSON.parse(await runLine(line))).toMatchObject(accepted);
  await vi.waitFor(send, { timeout: 30_000, interval: 200 });
}

/** Asks until the price is live: for a moment after each block no update is there for the next one. */
async function expectLivePrice(line: string): Promise<void> {
  const live = { priceProviderStatus: 'healthy', basis: { kind: 'live', sourceAgeMs: expect.any(Number) } };
  const ask = async () => expect(JSON.parse(await runLine(line))).toMatchObject(live);
  await vi.waitFor(ask, { timeout: 30_000, interval: 200 });
}

async function listedPools(output: string) {
  const [, api = ''] = /API +(http:\S+)/.exec(output) ?? [];
  const params = { path: { chain_id: 31337 }, query: { count: 500, minTvlFiat: 0 } };
  const { data } = await createPoolTradingDataClient(api).GET('/public/v1/evm/{chain_id}/metadata', { params });
  return data?.data ?? [];
}

/** The last pools to be indexed; some are read from their storage before they are listed. */
async function listedLivePools(output: string) {
  const livePools = async () => (await listedPools(output)).filter(({ pair }) => pair === LIVE_PAIR);
  await expect.poll(async () => (await livePools()).length, { timeout: 60_000, interval: 500 }).toBe(4);
  return livePools();
}

/** Follows, for a minute, all pools of the chain with live prices: four of them change four times a second. */
async function expectNothingStale(output: string): Promise<void> {
  const [, api = ''] = /API +(http:\S+)/.exec(output) ?? [];
  const [, key] = /API key +(\S+)/.exec(output) ?? [];
  const pools = (await listedPools(output)).map(({ poolAddress }) => poolAddress);
  const base = `${api}/public/v1/evm/31337`;
  const shares = await Promise.all(
    [key, undefined].map((each) => staleShare(base, pools, { ms: FOLLOWED_MS, key: each })),
  );
  expect(shares.map(({ times }) => times)).toEqual([[], []]);
  // With live prices for about nine tenths of the time.
  for (const { readings } of shares) expect(readings).toBeGreaterThan(FOLLOWED_MS / 1_000);
}

async function runLine(line: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', line], { cwd: PROJECT_ROOT });
  return stdout;
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
