import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { type MeasuredProcess, startMeasuredService } from '../measured-process.ts';
import { say } from '../print.ts';
import { longestStall } from '../process-figures.ts';
import { openPool, type Stores } from '../stores.ts';
import { keepTrading } from './activity.ts';
import type { HostileChain } from './chain.ts';
import { chainsFile } from './chains-file.ts';
import { countUnhealthy, measureColdRoutes, watchAges } from './measurements.ts';
import { measureRefresh } from './refresh.ts';
import type { Figures } from './report.ts';
import { pageRequests, quoteRequests } from './requests.ts';
import { Rounds } from './rounds.ts';
import { seedIndex } from './seed.ts';

export interface MarketOptions {
  readonly stores: Stores;
  readonly chains: readonly HostileChain[];
  readonly onlyHonest: boolean;
  /** How long prices are watched. */
  readonly seconds: number;
}

/** A market with its capture and API, and what was measured of it. Only one runs at a time: the other ones are paused. */
export interface ServedMarket {
  /** A round of requests. */
  readonly measureRound: () => Promise<void>;
  readonly pause: () => Promise<void>;
  /** Resumes, with some time to catch up. */
  readonly resume: () => Promise<void>;
  /** Measures it at new blocks, and ends it. */
  readonly finish: () => Promise<Figures>;
}

/** One proxy stands before it: the flood's clients have addresses of their own. */
const SETTINGS = { LOG_LEVEL: 'warn', TRUSTED_PROXIES: '1' };
const FIRST_ROUND_LIMIT_MS = 180_000;
const CATCH_UP_MS = 5_000;
const PAUSE_AGAIN_MS = 20;

/** Serves one market, with or without untrusted pools, from a dedicated database, and measures it without load. */
export async function serveMarket(options: MarketOptions): Promise<ServedMarket> {
  const { stores, chains, onlyHonest, seconds } = options;
  const { postgres } = stores;
  const databaseUrl = await createDatabase(postgres.url, onlyHonest ? 'honest' : 'hostile');
  const database = openPool(databaseUrl, 6);
  const serveApi = (warmSecs?: number) =>
    startMeasuredService({
      stores,
      databaseUrl,
      env: SETTINGS,
      chainsFile: chainsFile(chains, ({ node }) => node.url, warmSecs),
      hasPrecedence: true,
      isServing: (url) => answersAll(url, chains),
    });
  await migrate(databaseUrl);
  await seedIndex(database, databaseUrl, chains, onlyHonest);
  say('the index is filled');
  const refresh = await measureRefresh(database, chains, postgres.pid());
  say(`a refresh takes ${refresh.refreshMs.toFixed(0)} ms, ${refresh.refreshCpuMs.toFixed(0)} ms of CPU time`);
  const ids = chains.map(({ chainId }) => chainId);
  let trading = startTrading(database, ids);
  const ofCapture = chainsFile(chains, ({ world }) => world.anvil.url);
  const capture = await startMeasuredService({
    main: 'capture',
    stores,
    databaseUrl,
    env: SETTINGS,
    chainsFile: ofCapture,
  });
  await firstPrices(database);
  const api = await serveApi();
  say(`capture and API run, the API after ${(api.startMs / 1_000).toFixed(1)} s; watching for ${seconds} s`);
  let agesP99Secs = Number.NaN;
  const stallCalmMs = await longestStall(api.url, async () => {
    agesP99Secs = (await watchAges(database, seconds)).p99;
  });
  const calm = { agesP99Secs, unhealthy: await countUnhealthy(database), stallCalmMs, startMs: api.startMs };
  const rounds = new Rounds(api.url, chains);
  await rounds.warmUp();
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const { pid } of [capture, api]) process.kill(pid, name);
  };
  return {
    measureRound: () => rounds.measure(),
    async pause() {
      trading.end();
      await trading.done;
      for (signal('SIGSTOP'); await isBusy(database); signal('SIGSTOP')) {
        signal('SIGCONT');
        await sleep(PAUSE_AGAIN_MS);
      }
    },
    async resume() {
      signal('SIGCONT');
      trading = startTrading(database, ids);
      await sleep(CATCH_UP_MS);
    },
    async finish() {
      const memory = { apiMemory: api.peakMemory(), captureMemory: capture.peakMemory() };
      await api.stop();
      // Warm reads would leave nothing to read at a new block.
      const cold = await serveApi(0);
      const newBlocks = await measureNewBlocks(cold, chains);
      await cold.stop();
      rounds.stop();
      trading.end();
      await trading.done;
      await capture.stop();
      await database.end();
      const load = rounds.figures();
      return { ...refresh, ...calm, ...memory, ...load, ...newBlocks, rejected: load.rejected + newBlocks.rejected };
    },
  };
}

/** Whether a statement runs or a transaction is open. One that is paused would make all that comes after it look unseen to refreshes. */
async function isBusy(database: pg.Pool): Promise<boolean> {
  const { rowCount } = await database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
       AND state <> 'idle' AND pid <> pg_backend_pid()`,
  );
  return rowCount !== 0;
}

function startTrading(database: pg.Pool, chainIds: readonly number[]) {
  const ending = new AbortController();
  const done = keepTrading(database, chainIds, ending.signal);
  done.catch(() => undefined); // `pause` and `finish` report it. If the bench fails before, it must not hide that error.
  return { end: () => ending.abort(), done };
}

async function measureNewBlocks(api: MeasuredProcess, chains: readonly HostileChain[]) {
  const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
  const cold = await measureColdRoutes(api.url, plain);
  const guardedCold = await measureColdRoutes(api.url, guarded);
  return {
    rejected: cold.rejected + guardedCold.rejected,
    coldCalls: cold.calls,
    coldMs: cold.times.max,
    guardedColdCalls: guardedCold.calls,
    guardedColdMs: guardedCold.times.max,
  };
}

/** Until every honest pool has been read once. */
async function firstPrices(database: pg.Pool): Promise<void> {
  for (const deadline = Date.now() + FIRST_ROUND_LIMIT_MS; (await countUnhealthy(database)) > 0; await sleep(200)) {
    if (Date.now() > deadline) return;
  }
}

/** Whether a page and a quote are answered with 200. */
async function answersAll(url: string, chains: readonly HostileChain[]): Promise<boolean> {
  const first = [pageRequests(chains), quoteRequests(chains)].flatMap((list) => list.slice(0, 1));
  const answers = await Promise.all(first.map((request) => timeRequest(url, request)));
  return answers.every(({ status }) => status === 200);
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const server = openPool(serverUrl, 1);
  await server.query(`CREATE DATABASE ${name}`).finally(() => server.end());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
