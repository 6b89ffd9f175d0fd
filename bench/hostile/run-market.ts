import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import type { Postgres } from '../../devnet/services/postgres.ts';
import { keepTrading } from './activity.ts';
import type { HostileChain } from './chain.ts';
import { timeRequest } from './load.ts';
import { countUnhealthy, longestStall, measureColdRoutes, watchAges } from './measurements.ts';
import { peakMemory } from './processor-time.ts';
import { measureRefresh } from './refresh.ts';
import type { Figures } from './report.ts';
import { pageRequests, quoteRequests } from './requests.ts';
import { measureRounds } from './rounds.ts';
import { seedIndex } from './seed.ts';
import { type Ground, type ServedProcess, startProcess } from './served-market.ts';

export interface RunOptions extends Omit<Ground, 'databaseUrl'> {
  readonly postgres: Postgres;
  readonly onlyHonest: boolean;
  /** How long prices are watched. */
  readonly seconds: number;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

const FIRST_ROUND_LIMIT_MS = 180_000;

/** Serves one market, with or without the strangers' pools, from a database of its own, and measures it. */
export async function runMarket(options: RunOptions): Promise<Figures> {
  const { postgres, chains, onlyHonest, say } = options;
  const databaseUrl = await createDatabase(postgres.url, onlyHonest ? 'honest' : 'hostile');
  const database = new pg.Pool({ connectionString: databaseUrl, max: 6 });
  const end = new AbortController();
  let trading: Promise<void> = Promise.resolve();
  try {
    await migrate(databaseUrl);
    await seedIndex(database, databaseUrl, chains, onlyHonest);
    say('the index is filled');
    const refresh = await measureRefresh(database, chains, postgres.pid());
    say(`a refresh takes ${refresh.refreshMs.toFixed(0)} ms, ${refresh.refreshCpuMs.toFixed(0)} ms of processor time`);
    const ids = chains.map(({ chainId }) => chainId);
    trading = keepTrading(database, ids, end.signal);
    return { ...refresh, ...(await measureService(options, { ...options, databaseUrl }, database)) };
  } finally {
    end.abort();
    await trading;
    await database.end();
  }
}

/** Starts capture and the API, and measures them: first calm, then under requests. */
async function measureService(options: RunOptions, ground: Ground, database: pg.Pool) {
  const { chains, seconds, rounds, say } = options;
  const running: ServedProcess[] = [];
  try {
    const capture = await startProcess(ground, 'capture', async () => true);
    running.push(capture);
    await firstPrices(database);
    const api = await startProcess(ground, 'api', (url) => answersAll(url, chains));
    running.push(api);
    say(`capture and API run, the API after ${(api.startMs / 1_000).toFixed(1)} s; watching for ${seconds} s`);
    let agesP99Secs = Number.NaN;
    const stallCalmMs = await longestStall(api.url, async () => {
      agesP99Secs = (await watchAges(database, seconds)).quantile(0.99);
    });
    const unhealthy = await countUnhealthy(database);
    say(`requests, ${rounds} rounds`);
    const load = await measureRounds(api.url, chains, rounds);
    const memory = { apiMemory: peakMemory(api.pid), captureMemory: peakMemory(capture.pid) };
    await running.pop()?.stop();
    // Warm reads would leave nothing to read at a new block.
    const cold = await startProcess(ground, 'api', (url) => answersAll(url, chains), { warmSecs: 0 });
    running.push(cold);
    const newBlocks = await measureNewBlocks(cold, chains);
    return {
      ...{ agesP99Secs, unhealthy, stallCalmMs, startMs: api.startMs, ...memory },
      ...{ ...load, ...newBlocks, refused: load.refused + newBlocks.refused },
    };
  } finally {
    await Promise.all(running.map((process) => process.stop()));
  }
}

async function measureNewBlocks(api: ServedProcess, chains: readonly HostileChain[]) {
  const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
  const cold = await measureColdRoutes(api.url, plain);
  const guardedCold = await measureColdRoutes(api.url, guarded);
  return {
    refused: cold.times.refused + guardedCold.times.refused,
    ...{ coldCalls: cold.calls, coldMs: cold.times.quantile(1) },
    ...{ guardedColdCalls: guardedCold.calls, guardedColdMs: guardedCold.times.quantile(1) },
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
