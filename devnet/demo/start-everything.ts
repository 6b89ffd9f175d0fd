import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildChainsFile, type ServedChain } from '../chains-config.ts';
import { ServiceError } from '../services/service-error.ts';
import { createTempFolder } from '../services/temp-folder.ts';
import { type BuildersPart, startBuilders } from './builders.ts';
import { startDatabase, startQueueStore } from './infrastructure.ts';
import { DEMO_CHAINS, type DemoChain, openMarket, startChain, startTraffic } from './market.ts';
import type { DemoOptions } from './options.ts';
import { openLogs } from './process-logs.ts';
import { startAgain, startProcess } from './processes.ts';
import type { DemoPorts } from './settings.ts';
import type { Part, Supervisor } from './supervisor.ts';
import { welcome } from './welcome.ts';

/** Starts every part, side by side where they do not need each other, and returns the text that greets the user. */
export async function startEverything(supervisor: Supervisor, ports: DemoPorts, options: DemoOptions): Promise<string> {
  const queuePrefix = `demo-${process.pid}`;
  const [database, redis, builders, ...markets] = await Promise.all([
    supervisor.start('postgres', startDatabase),
    supervisor.start('redis', () => startQueueStore(queuePrefix)),
    supervisor.start('mock builders', startBuilders),
    ...DEMO_CHAINS.map((chain) => startMarket(supervisor, chain, options)),
  ]);
  const chainsFile = await supervisor.start('chains file', () => writeChainsFile(markets, builders));
  const env = {
    CHAINS_CONFIG: chainsFile.path,
    DATABASE_URL: database.url,
    DATABASE_REPLICA_URL: '',
    DATABASE_SCHEMA: '',
    REDIS_URL: redis.url,
    QUEUE_PREFIX: queuePrefix,
  };
  const logOf = await openLogs(options.logs);
  const [api, indexer] = await Promise.all([
    supervisor.start('api', () => startProcess('api/main.ts', env, logOf, ports.api)),
    // A backfill ends it with the wish to be started again.
    supervisor.start('indexer', () => startAgain(() => startProcess('indexer/main.ts', env, logOf, ports.indexer))),
    supervisor.start('capture', () => startProcess('capture/main.ts', env, logOf)),
    supervisor.start('builders worker', () => startProcess('builders/main.ts', env, logOf)),
  ]);
  await supervisor.start('first listing', () => waitForListing(api.url, markets));
  return welcome({
    api: api.url,
    indexer: indexer.url,
    chainsFile: chainsFile.path,
    database,
    redis,
    markets,
    builders,
  });
}

/** A chain, its pools and those who trade in them. */
async function startMarket(supervisor: Supervisor, chain: DemoChain, options: DemoOptions): Promise<ServedChain> {
  const { url } = await supervisor.start(chain.name, () => startChain(chain));
  const { scenario } = await supervisor.start(`pools of ${chain.name}`, () => openMarket(chain, url));
  await supervisor.start(`traffic of ${chain.name}`, () => startTraffic(url, scenario, options));
  return { ...chain, url, scenario };
}

async function writeChainsFile(
  markets: readonly ServedChain[],
  builders: BuildersPart,
): Promise<Part & { readonly path: string }> {
  const folder = await createTempFolder('demo');
  const path = join(folder.path, 'chains.json');
  const file = buildChainsFile(markets, { builders: builders.byKind });
  await writeFile(path, JSON.stringify(file, undefined, 2));
  return { path, note: path, stop: folder.remove };
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
  if (!response.ok) return 0;
  const { total } = (await response.json()) as { total: number };
  return total;
}
