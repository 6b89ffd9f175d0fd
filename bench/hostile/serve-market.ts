import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { chainsFile } from '../../test/many-pools/chains-file.ts';
import { seedIndex } from '../../test/many-pools/seed.ts';
import { type MeasuredProcess, startMeasuredService } from '../measured-process.ts';
import { say } from '../print.ts';
import { longestStall } from '../process-figures.ts';
import { createDatabase, openPool, type Stores } from '../stores.ts';
import type { HostileChain } from './chain.ts';
import { countUnhealthy, measureColdRoutes, watchAges } from './measurements.ts';
import { measureRefresh } from './refresh.ts';
import type { Figures } from './report.ts';
import { pageRequests, quoteRequests } from './requests.ts';
import { Rounds } from './rounds.ts';
import { RunningMarket } from './running-market.ts';

export interface MarketOptions {
  readonly stores: Stores;
  readonly chains: readonly HostileChain[];
  readonly onlyHonest: boolean;
  /** How long prices are watched. */
  readonly seconds: number;
}

/** A market with its capture and API, and what was measured of it. */
export interface ServedMarket {
  readonly running: RunningMarket;
  /** A round of requests. */
  readonly measureRound: () => Promise<void>;
  /** Measures it at new blocks, and ends it. */
  readonly finish: () => Promise<Figures>;
}

/** One proxy stands before it: the flood's clients have addresses of their own. */
const SETTINGS = { LOG_LEVEL: 'warn', TRUSTED_PROXIES: '1' };
const FIRST_ROUND_LIMIT_MS = 180_000;

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
  const running = new RunningMarket(database, ids);
  const ofCapture = chainsFile(chains, ({ world }) => world.anvil.url);
  const common = { stores, databaseUrl, env: SETTINGS };
  const capture = await startMeasuredService({ ...common, main: 'capture', chainsFile: ofCapture });
  await firstPrices(database);
  const api = await serveApi();
  for (const each of [capture, api]) running.add(each);
  say(`capture and API run, the API after ${(api.startMs / 1_000).toFixed(1)} s; watching for ${seconds} s`);
  const calm = { ...(await measureCalm(database, api.url, seconds)), startMs: api.startMs };
  const rounds = new Rounds(api.url, chains);
  await rounds.warmUp();
  const finish = async () => {
    const memory = { apiMemory: api.peakMemory(), captureMemory: capture.peakMemory() };
    await api.stop();
    // Warm reads would leave nothing to read at a new block.
    const cold = await serveApi(0);
    const newBlocks = await measureNewBlocks(cold, chains);
    await cold.stop();
    rounds.stop();
    await running.endTrading();
    await capture.stop();
    await database.end();
    const load = rounds.figures();
    return { ...refresh, ...calm, ...memory, ...load, ...newBlocks, rejected: load.rejected + newBlocks.rejected };
  };
  return { running, measureRound: () => rounds.measure(), finish };
}

/** What shows without load. */
async function measureCalm(database: pg.Pool, url: string, seconds: number) {
  let agesP99Secs = Number.NaN;
  const stallCalmMs = await longestStall(url, async () => {
    agesP99Secs = (await watchAges(database, seconds)).p99;
  });
  return { agesP99Secs, stallCalmMs, unhealthy: await countUnhealthy(database) };
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
