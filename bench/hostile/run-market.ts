import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import type { Postgres } from '../../devnet/services/postgres.ts';
import { keepTrading } from './activity.ts';
import type { HostileChain } from './chain.ts';
import { underFlood } from './flood.ts';
import { type LoadRequest, type LoadResult, measureLoad, timeRequest } from './load.ts';
import { countUnhealthy, longestStall, measureColdRoutes, watchAges } from './measurements.ts';
import { peakMemory } from './processor-time.ts';
import { measureRefresh } from './refresh.ts';
import type { Figures } from './report.ts';
import { pageRequests, quoteRequests, routeRequests } from './requests.ts';
import { seedIndex } from './seed.ts';
import { type Ground, type ServedProcess, startProcess } from './served-market.ts';

export interface RunOptions extends Omit<Ground, 'databaseUrl'> {
  readonly postgres: Postgres;
  readonly onlyHonest: boolean;
  /** How long prices are watched. */
  readonly seconds: number;
  readonly requests: number;
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
  const { chains, seconds, say } = options;
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
    say('requests');
    const load = await measureRequests(api, options);
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

async function measureRequests(api: ServedProcess, { chains, requests, say }: RunOptions) {
  const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
  const results: LoadResult[] = [];
  const p99 = async (list: readonly LoadRequest[], count = requests) => {
    const result = await measureLoad(api.url, list, count);
    results.push(result);
    return result.quantile(0.99);
  };
  const load = { quotesP99: 0, pagesP99: 0, routesP99: 0, guardedRoutesP99: 0 };
  const stallLoadMs = await longestStall(api.url, async () => {
    load.quotesP99 = await p99(quoteRequests(chains));
    load.pagesP99 = await p99(pageRequests(chains));
    load.routesP99 = await p99(routeRequests(plain), requests / 4);
    load.guardedRoutesP99 = await p99(routeRequests(guarded), requests / 4);
  });
  say('a flood of requests');
  const flood = await measureFlood(api, chains, () => p99(quoteRequests(chains)));
  return { ...load, ...flood, stallLoadMs, refused: results.reduce((sum, result) => sum + result.refused, 0) };
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

/** Quotes while strangers ask for what nobody asked for before. @param quotes gives their p99 */
async function measureFlood(api: ServedProcess, chains: readonly HostileChain[], quotes: () => Promise<number>) {
  const figures = { floodedQuotesP99: 0, floodRate: 0, floodBroken: 0 };
  const floodStallMs = await longestStall(api.url, async () => {
    const { rate, broken } = await underFlood(api.url, chains, async () => {
      figures.floodedQuotesP99 = await quotes();
    });
    Object.assign(figures, { floodRate: rate, floodBroken: broken });
  });
  return { ...figures, floodStallMs };
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
