import { spawnSync } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
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
import { freePort } from '../../runtime/free-port.ts';
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
  wholeDigestOf,
} from '../harness/local-service.ts';
import { startedWorld } from '../harness/open-world.ts';
import { expectAnalyst, otherChain } from './start-places.ts';

const chain = startedWorld(startLocalChain);
/** The folder of the first test goes on in the second one. */
const dataFolder = () => join(chain.temp, 'data');

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

/** Ends capture and Postgres, which the run starts again. */
async function endParts({ pid, recentOutput }: ServiceProcess, data: string): Promise<void> {
  // Postgres says every ten seconds how long it recovers, and here every ten milliseconds.
  await appendFile(join(data, 'postgres/data/postgresql.auto.conf'), 'log_startup_progress_interval = 10\n');
  for (const [name, command] of [
    ['capture', 'dist/capture.mjs'],
    ['postgres', 'bin/postgres -D'],
  ] as const) {
    const part = await vi.waitUntil(() => processesOf(pid).find((it) => commandOf(it).includes(command)), EVENTUALLY);
    process.kill(part, 'SIGKILL');
    await vi.waitFor(() => expect(recentOutput()).toMatch(`ended  ${name}`), EVENTUALLY);
  }
}

describe('npm start', { timeout: START_LIMIT_MS }, () => {
  test('serves a chain from nothing, and after the end of every process with the rows that it had', async () => {
    const { chains } = chain;
    const data = dataFolder();
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
    const rows = await wholeDigestOf(chain, data);

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
    const data = dataFolder();
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
});

const secs = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Empty when the process has ended meanwhile. */
const commandOf = (pid: number): string =>
  spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
