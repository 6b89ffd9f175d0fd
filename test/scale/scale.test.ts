import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { evenBins } from '../../devnet/pools.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createIndexedDatabase } from '../harness/indexed-database.ts';
import { setIndexedBlock } from '../harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { openSeeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { scrape } from '../operations/scrape.ts';
import { makePool, type QuoteWorld, quoteWorld, stillQuotes } from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';
import { connectSse, type SseClient } from '../stream/sse-client.ts';

const CHAIN = 31337;
const PROCESSES = 3;
const REQUESTS = 60;
const STREAMS = 24;
const EVENTUALLY = { timeout: 60_000, interval: 100 };
const ROUTE = '/public/v1/evm/:chain_id/:pool_address/bid_ask';

type Api = ServiceProcess & { readonly operations: string };

const database = startedWorld(createIndexedDatabase);
const redis = startedWorld(() => createRedisDatabase('pamm'));
const folder = startedWorld(() => createTempFolder('scale'));
const world = quoteWorld(async (on) => {
  const made = await makePool(on, { pair: await on.pair(18, 6), price: 2_000, bins: evenBins(-2, 2, 1_000) });
  return { pool: made.address };
});
const service = openWorld(async (ends) => {
  await seed();
  const chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(chainsOf(world)));
  const port = await freePort();
  const start = async () => ends.adopt(await startApi(port, chainsFile), (api) => api.stop());
  const apis = await Promise.all(Array.from({ length: PROCESSES }, start));
  return { base: `http://127.0.0.1:${port}/public/v1/evm/${CHAIN}`, apis };
});

async function seed(): Promise<void> {
  const { address, token0, token1, immutables, immutableProvider } = await servedPool(
    world.chain,
    world.deployment,
    world.pool,
  );
  const seeder = openSeeder(database.url);
  for (const token of [token0, token1]) await seedToken(seeder.db, { chainId: CHAIN, address: token.address });
  const { lowestBin, highestBin, scale } = immutables;
  const row = {
    chainId: CHAIN,
    address,
    factory: world.deployment.poolFactory,
    token0: token0.address,
    token1: token1.address,
    lowestBin,
    highestBin,
    token0ScaleMultiplier: scale.multiplier0,
    token1ScaleMultiplier: scale.multiplier1,
    ...(immutableProvider === null ? {} : { priceProvider: immutableProvider }),
  };
  await seedPools(seeder.db, [{ pool: row, state: { total0Scaled: 10n ** 21n, total1Scaled: 10n ** 21n } }]);
  await seeder.end();
  const { number, timestamp } = await world.chain.client.getBlock();
  await setIndexedBlock(database.client, { chainId: CHAIN, number: Number(number), timestamp: Number(timestamp) });
}

const chainsOf = ({ anvil, deployment }: QuoteWorld) => ({
  chains: [
    {
      chainId: CHAIN,
      name: 'ethereum',
      rpcUrls: [anvil.url],
      multicall3: deployment.multicall3,
      blockTimeMs: 1_000,
      deployments: [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: deployment.poolFactory }],
    },
  ],
  stream: { connectionsPerAddress: STREAMS },
  limits: { enabled: false },
  quotes: stillQuotes,
});

/** One of the processes that listen on the port. */
async function startApi(port: number, chainsFile: string): Promise<Api> {
  const operationsPort = await freePort();
  const operations = `http://127.0.0.1:${operationsPort}`;
  const process = await startOwnProcess({
    main: 'api',
    env: {
      CHAINS_CONFIG: chainsFile,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      REUSE_PORT: 'on',
      HOST: '127.0.0.1',
      PORT: String(port),
      OPERATIONS_PORT: String(operationsPort),
      LOG_LEVEL: 'warn',
      EXPLORER: 'off',
    },
    ready: `${operations}/health`,
    startTimeoutMs: 120_000,
    stopTimeoutMs: 20_000,
  });
  return { ...process, operations };
}

interface Answer {
  readonly status: number;
  readonly block: number;
  readonly body: Record<string, unknown>;
}

/** Asks over a connection of its own, so that requests come to all processes. */
function ask(): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(`${service.base}/${world.pool}/bid_ask`, { agent: false }, async (response) => {
      try {
        const body = JSON.parse((await buffer(response)).toString());
        resolve({ status: response.statusCode ?? 0, block: Number(response.headers['x-block-number']), body });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
  });
}

const countedBy = async ({ operations }: Api) =>
  (await scrape(operations)).sum('http_request_duration_seconds_count', { route: ROUTE, status: '200' }) ?? 0;

test('processes of one port all serve, each with its own metrics', async () => {
  const head = Number(await world.chain.client.getBlockNumber());
  const answers = await Promise.all(Array.from({ length: REQUESTS }, ask));
  for (const { status, block } of answers) expect([status, block]).toEqual([200, head]);
  const [first] = answers;
  for (const { body } of answers) expect({ ...body, serverTs: 0 }).toEqual({ ...first?.body, serverTs: 0 });
  await expect
    .poll(async () => (await Promise.all(service.apis.map(countedBy))).reduce((sum, count) => sum + count), EVENTUALLY)
    .toBe(REQUESTS);
  for (const count of await Promise.all(service.apis.map(countedBy))) expect(count).toBeGreaterThan(0);
});

test('one that stops ends its own streams in order, and the others serve', async () => {
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => connectSse(`${service.base}/stream?pools=${world.pool}&depth=false`)),
  );
  const ended = new Set<SseClient>();
  for (const client of streams) void client.ended.then(() => ended.add(client));
  const connectionsOf = async ({ operations }: Api) => (await scrape(operations)).sum('stream_connections') ?? 0;
  const counts = await vi.waitUntil(async () => {
    const now = await Promise.all(service.apis.map(connectionsOf));
    return now.reduce((sum, count) => sum + count) === STREAMS && now;
  }, EVENTUALLY);
  const [stopped, ...others] = service.apis;
  await stopped?.stop();
  await expect.poll(() => ended.size, EVENTUALLY).toBe(counts[0]);
  for (const client of ended) expect(client.messages.at(-1)).toMatchObject({ event: 'bye' });
  const answers = await Promise.all(Array.from({ length: REQUESTS }, ask));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(ended.size).toBe(counts[0]);
  expect(await Promise.all(others.map(connectionsOf))).toEqual(counts.slice(1));
  for (const client of streams) client.close();
});
