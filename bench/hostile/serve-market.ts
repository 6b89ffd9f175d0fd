import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import type { Postgres } from '../../local/services/postgres.ts';
import { keepTrading } from './activity.ts';
import type { HostileChain } from './chain.ts';
import { peakMemory } from './cpu-time.ts';
import { timeRequest } from './load.ts';
import { countUnhealthy, longestStall, measureColdRoutes, watchAges } from './measurements.ts';
import { measureRefresh } from './refresh.ts';
import type { Figures } from './report.ts';
import { pageRequests, quoteRequests } from './requests.ts';
import { Rounds } from './rounds.ts';
import { seedIndex } from './seed.ts';
import { type ServedProcess, type Setup, startProcess } from './served-process.ts';

export interface MarketOptions extends Omit<Setup, 'databaseUrl'> {
  readonly postgres: Postgres;
  readonly onlyHonest: boolean;
  /** How long prices are watched. */
  readonly seconds: number;
  readonly say: (line: string) => void;
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

const FIRST_ROUND_LIMIT_MS = 180_000;
const CATCH_UP_MS = 5_000;
const PAUSE_AGAIN_MS = 20;

/** Serves one market, with or without untrusted pools, from a dedicated database, and measures it without load. */
export async function serveMarket(options: MarketOptions): Promise<ServedMarket> {
  const { postgres, chains, onlyHonest, seconds, say } = options;
  const databaseUrl = await createDatabase(postgres.url, onlyHonest ? 'honest' : 'hostile');
  const database = new pg.Pool({ connectionString: databaseUrl, max: 6 });
  database.on('error', () => undefined); // After a failure Postgres may end first.
  const setup = { ...options, databaseUrl };
  await migrate(databaseUrl);
  await seedIndex(database, databaseUrl, chains, onlyHonest);
  say('the index is filled');
  const refresh = await measureRefresh(database, chains, postgres.pid());
  say(`a refresh takes ${refresh.refreshMs.toFixed(0)} ms, ${refresh.refreshCpuMs.toFixed(0)} ms of CPU time`);
  const ids = chains.map(({ chainId }) => chainId);
  let trading = startTrading(database, ids);
  const capture = await startProcess(setup, 'capture', async () => true);
  await firstPrices(database);
  const api = await startProcess(setup, 'api', (url) => answersAll(url, chains));
  say(`capture and API run, the API after ${(api.startMs / 1_000).toFixed(1)} s; watching for ${seconds} s`);
  let agesP99Secs = Number.NaN;
  const stallCalmMs = await longestStall(api.url, async () => {
    agesP99Secs = (await watchAges(database, seconds)).quantile(0.99);
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
      const memory = { apiMemory: peakMemory(api.pid), captureMemory: peakMemory(capture.pid) };
      await api.stop();
      // Warm reads would leave nothing to read at a new block.
      const cold = await startProcess(setup, 'api', (url) => answersAll(url, chains), { warmSecs: 0 });
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

async function measureNewBlocks(api: ServedProcess, chains: readonly HostileChain[]) {
  const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
  const cold = await measureColdRoutes(api.url, plain);
  const guardedCold = await measureColdRoutes(api.url, guarded);
  return {
    rejected: cold.times.rejected + guardedCold.times.rejected,
    coldCalls: cold.calls,
    coldMs: cold.times.quantile(1),
    guardedColdCalls: guardedCold.calls,
    guardedColdMs: guardedCold.times.quantile(1),
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
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`).finally(() => client.end());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
