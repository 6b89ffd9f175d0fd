import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whenAsked } from '../../local/processes/keep-running.ts';
import type { Ports } from '../../local/processes/ports.ts';
import { openLogs } from '../../local/processes/process-logs.ts';
import { startServiceProcesses } from '../../local/processes/service-processes.ts';
import { writeShellSettings } from '../../local/processes/shell-settings.ts';
import type { Part, Supervisor } from '../../local/processes/supervisor.ts';
import { ServiceError } from '../../local/services/service-error.ts';
import { createTempFolder, type TempFolder } from '../../local/services/temp-folder.ts';
import { buildChainsFile, type ServedChain } from '../chains-config.ts';
import type { LivePool } from '../live/live-pools.ts';
import { type BuildersPart, startBuilders } from './builders.ts';
import { examples } from './examples.ts';
import { startDatabase, startQueueStore } from './infrastructure.ts';
import { startLivePrices } from './live-prices.ts';
import { DEMO_CHAINS, type DemoChain, openMarket, startChain, startTraffic } from './market.ts';
import type { DemoOptions } from './options.ts';
import { startPartPrices } from './part-prices.ts';
import { signQuoteUpdate } from './quote-update.ts';
import { welcome } from './welcome.ts';

/** Starts every part, side by side where they do not need each other, and returns the text that greets the user. */
export async function startEverything(supervisor: Supervisor, ports: Ports, options: DemoOptions): Promise<string> {
  const logOf = await openLogs(options.logs, (line) => process.stderr.write(`${line}\n`));
  const queuePrefix = `demo-${process.pid}`;
  const [database, redis, builders, ...markets] = await Promise.all([
    supervisor.start('postgres', startDatabase),
    supervisor.start('redis', () => startQueueStore(queuePrefix)),
    supervisor.start('mock builders', startBuilders),
    ...DEMO_CHAINS.map((chain) => startMarket(supervisor, chain, options)),
  ]);
  const files = await supervisor.start('chains file', () => writeChainsFile(markets, builders));
  const stores = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const settings = { CHAINS_CONFIG: files.chains, ...stores, QUEUE_PREFIX: queuePrefix };
  const env = { ...settings, DATABASE_REPLICA_URL: '', DATABASE_SCHEMA: '' };
  const envOf = (main: string) => ({ ...env, REDIS_URL: redis.urlFor(main) });
  // A backfill ends the indexer with the wish to be started again.
  const processes = { ports, logOf, envOf, keepOf: () => ({ rule: whenAsked }) };
  const { api, indexer } = await startServiceProcesses(supervisor, processes);
  await supervisor.start('first listing', () => waitForListing(api.url, markets));
  // A login that may do all of what further processes and commands need.
  const settingsFile = join(files.folder, 'settings.sh');
  await writeShellSettings(settingsFile, settings);
  const served = { api: api.url, apiKey: database.apiKey };
  const prepared = await prepareExamples(files.folder, markets);
  return welcome({
    ...served,
    indexer: indexer.url,
    database,
    redis,
    markets,
    builders,
    settingsFile,
    examples: examples({ ...served, ...prepared, builder: builders.firstUrl }),
  });
}

/** A chain that is served, and its pools with live prices. */
type DemoMarket = ServedChain & { readonly livePools: readonly LivePool[] };

/** A chain, its pools and those who trade in them. */
async function startMarket(supervisor: Supervisor, chain: DemoChain, options: DemoOptions): Promise<DemoMarket> {
  const { url } = await supervisor.start(chain.name, () => startChain(chain));
  const { scenario } = await supervisor.start(`pools of ${chain.name}`, () => openMarket(chain, url));
  const { slotSecs, builtBy } = chain;
  const prices = await supervisor.start(`${builtBy} of ${chain.name}`, () =>
    builtBy === 'builder'
      ? startLivePrices(url, scenario, { ...options, slotSecs })
      : startPartPrices(url, scenario, { ...options, blockSecs: slotSecs }),
  );
  await supervisor.start(`traffic of ${chain.name}`, () => startTraffic(url, scenario, options));
  const served = { ...chain, url, hasSocket: true };
  const { live, tokens, pools: livePools } = prices;
  const market = { ...scenario, tokens: [...scenario.tokens, ...tokens] };
  return { ...served, blockTimeMs: slotSecs * 1_000, live, scenario: market, livePools };
}

async function writeChainsFile(
  markets: readonly ServedChain[],
  builders: BuildersPart,
): Promise<Part & { readonly folder: string; readonly chains: string }> {
  const folder: TempFolder = await createTempFolder('demo');
  const chains = join(folder.path, 'chains.json');
  await writeFile(chains, JSON.stringify(buildChainsFile(markets, { builders: builders.byKind }), undefined, 2));
  return { folder: folder.path, chains, note: chains, stop: folder.remove };
}

/** The market and pool that the examples speak of, and a file with a quote update. */
async function prepareExamples(folder: string, markets: readonly DemoMarket[]) {
  const market = markets.find(({ kind }) => kind === 'ethereum');
  const pool = market?.scenario.pools.find(({ busy }) => busy);
  const livePool = market?.livePools[0];
  if (market === undefined || pool === undefined) throw new Error('the demo has no pool that trades on Ethereum');
  if (livePool === undefined) throw new Error('the demo has no pool with live prices on Ethereum');
  const quoteUpdate = join(folder, 'quote-update.json');
  await writeFile(quoteUpdate, JSON.stringify(await signQuoteUpdate(market, pool), undefined, 2));
  return { market, pool, livePool, quoteUpdate };
}

const LISTING_LIMIT_MS = 60_000;

/** Ready means that a client sees pools of every chain, not only that processes run. */
async function waitForListing(apiUrl: string, markets: readonly ServedChain[]): Promise<Part> {
  const deadline = Date.now() + LISTING_LIMIT_MS;
  const urls = markets.map(({ chainId }) => `${apiUrl}/public/v1/evm/${chainId}/metadata?count=1`);
  for (;;) {
    const totals = await Promise.all(urls.map(listedPools));
    if (totals.every((total) => total > 0)) return { note: `${totals.join(' + ')} pools`, stop: async () => undefined };
    if (Date.now() > deadline) throw new ServiceError(`the API lists no pools after ${LISTING_LIMIT_MS / 1_000} s`);
    await sleep(250);
  }
}

async function listedPools(url: string): Promise<number> {
  const response = await fetch(url);
  return response.ok ? ((await response.json()) as { total: number }).total : 0;
}
