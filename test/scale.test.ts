import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Address } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { evenBins } from '../devnet/pools.ts';
import { onFreePort } from '../devnet/services/on-free-port.ts';
import { startOwnProcess } from '../devnet/services/own-process.ts';
import type { ServiceProcess } from '../devnet/services/service-process.ts';
import { createTempFolder, type TempFolder } from '../devnet/services/temp-folder.ts';
import { freePort } from '../runtime/free-port.ts';
import { createIndexedDatabase, type IndexedDatabase } from './harness/indexed-database.ts';
import { setIndexedBlock } from './harness/onchain-tables.ts';
import { createRedisDatabase, type TestRedis } from './harness/redis.ts';
import { openSeeder, seedPools, seedToken } from './harness/seed-pools.ts';
import { scrape } from './operations/scrape.ts';
import {
  evenShares,
  makePool,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  stillQuotes,
} from './quotes/quote-world.ts';
import { servedPool } from './quotes/served-pool.ts';
import { connectSse, type SseClient } from './stream/sse-client.ts';

const CHAIN = 31337;
const PROCESSES = 3;
const PER_ADDRESS = 8;
const EVENTUALLY = { timeout: 60_000, interval: 100 };
const ROUTE = '/public/v1/evm/:chain_id/:pool_address/bid_ask';

let world: QuoteWorld;
let database: IndexedDatabase;
let redis: TestRedis;
let folder: TempFolder;
let chainsFile: string;
let pool: Address;
let api: Api;
const clients: SseClient[] = [];
/** Requests that the API has answered. */
let answered = 0;

type Api = ServiceProcess & { readonly base: string; readonly operations: string };

beforeAll(async () => {
  [world, database, redis, folder] = await Promise.all([
    startQuoteWorld(CHAIN),
    createIndexedDatabase(),
    createRedisDatabase('pamm'),
    createTempFolder('scale'),
  ]);
  const shares = evenShares(-2, 2, SHARES_OF_ONE);
  const pair = await world.pair(18, 6);
  pool = (await makePool(world, { pair, price: 2_000, bins: evenBins(-2, 2, 1_000), shares })).address;
  await seed();
  chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(chainsOf(world)));
  api = await startApi();
}, 240_000);

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await expect.poll(openConnections, EVENTUALLY).toBe(0);
});

afterAll(async () => {
  await api?.stop();
  await Promise.all([world?.stop(), database?.drop(), redis?.drop(), folder?.remove()]);
});

async function seed(): Promise<void> {
  const { address, token0, token1, immutables, immutableProvider } = await servedPool(
    world.chain,
    world.deployment,
    pool,
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
  stream: { connectionsPerAddress: PER_ADDRESS },
  limits: { enabled: false },
  quotes: stillQuotes,
});

function startApi(env: Readonly<Record<string, string>> = {}): Promise<Api> {
  return onFreePort(async (port) => {
    answered = 0;
    const operationsPort = await freePort();
    const operations = `http://127.0.0.1:${operationsPort}`;
    const service = await startOwnProcess({
      main: 'api',
      env: {
        CHAINS_CONFIG: chainsFile,
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        API_PROCESSES: String(PROCESSES),
        HOST: '127.0.0.1',
        PORT: String(port),
        OPERATIONS_PORT: String(operationsPort),
        LOG_LEVEL: 'warn',
        EXPLORER: 'off',
        ...env,
      },
      ready: `${operations}/health`,
      startTimeoutMs: 120_000,
      stopTimeoutMs: 20_000,
    });
    return { ...service, base: `http://127.0.0.1:${port}/public/v1/evm/${CHAIN}`, operations };
  });
}

/** Those that serve, as the system knows them. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

const isRunning = (pid: number): boolean => {
  try {
    // A process that ended and that nobody waited for has state Z.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

interface Answer {
  readonly status: number;
  readonly block: number;
  readonly body: Record<string, unknown>;
}

/** Asks over a connection of its own, so that requests come to processes in turn. */
function ask(): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(`${api.base}/${pool}/bid_ask`, { agent: false }, async (response) => {
      try {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part);
        answered += 1;
        resolve({
          status: response.statusCode ?? 0,
          block: Number(response.headers['x-block-number']),
          body: JSON.parse(Buffer.concat(parts).toString()),
        });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
  });
}

async function open(): Promise<SseClient> {
  const client = await connectSse(`${api.base}/stream?pools=${pool}&depth=false`);
  if (client.status === 200) clients.push(client);
  return client;
}

async function readiness() {
  const response = await fetch(`${api.operations}/ready`);
  return { status: response.status, ...((await response.json()) as { readonly processes: object }) };
}

const counted = async () =>
  (await scrape(api.operations)).sum('http_request_duration_seconds_count', { route: ROUTE, status: '200' }) ?? 0;
const openConnections = async () => (await scrape(api.operations)).sum('stream_connections') ?? 0;
const allAnswer = () =>
  expect
    .poll(async () => (await readiness()).processes, EVENTUALLY)
    .toEqual({ configured: PROCESSES, answering: PROCESSES });

test('requests on one port are served by all processes, and counted as of one', { timeout: 120_000 }, async () => {
  expect(childrenOf(api.pid)).toHaveLength(PROCESSES);
  await allAnswer();
  const head = Number(await world.chain.client.getBlockNumber());
  const answers = await Promise.all(Array.from({ length: 40 }, ask));
  for (const { status, block } of answers) expect([status, block]).toEqual([200, head]);
  const [first] = answers;
  for (const { body } of answers) expect({ ...body, serverTs: 0 }).toEqual({ ...first?.body, serverTs: 0 });
  await expect.poll(counted, EVENTUALLY).toBe(answered);
  // Figures of the chain are no sums: one chain has one head, however many look at it.
  expect((await scrape(api.operations)).sum('indexing_head_block')).toBe(head);
});

test('connections of an address are counted over all processes', { timeout: 120_000 }, async () => {
  const opened = await Promise.all(Array.from({ length: PER_ADDRESS }, open));
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
  for (let attempt = 0; attempt < PROCESSES; attempt += 1) expect((await open()).status).toBe(429);
  opened[0]?.close();
  await expect.poll(async () => (await open()).status, EVENTUALLY).toBe(200);
  expect((await open()).status).toBe(429);
});

test('a process that dies takes its own streams with it alone, and is replaced', { timeout: 180_000 }, async () => {
  const opened = await Promise.all(Array.from({ length: PER_ADDRESS }, open));
  const ended = new Set<SseClient>();
  for (const client of opened) void client.ended.then(() => ended.add(client));
  await Promise.all(Array.from({ length: 2 * PROCESSES }, ask));
  await expect.poll(counted, EVENTUALLY).toBe(answered);
  const [victim = 0, ...others] = childrenOf(api.pid);
  process.kill(victim, 'SIGKILL');
  // Connections are handed out in turn, so each process has some.
  await expect.poll(() => ended.size, EVENTUALLY).toBeGreaterThan(0);
  await allAnswer();
  // About a fair share of all.
  expect(ended.size).toBeLessThanOrEqual((2 * PER_ADDRESS) / PROCESSES);
  const now = childrenOf(api.pid);
  expect(now).toHaveLength(PROCESSES);
  expect(now).toEqual(expect.arrayContaining(others));
  expect(now).not.toContain(victim);
  // A count that fell would read as a restart of everything.
  expect(await counted()).toBe(answered);
  const freed = ended.size;
  for (let count = 0; count < freed; count += 1) expect((await open()).status).toBe(200);
  expect((await open()).status).toBe(429);
  expect(ended.size).toBe(freed);
});

test('while a process hangs, the others serve and its counts stand', { timeout: 180_000 }, async () => {
  await Promise.all(Array.from({ length: 2 * PROCESSES }, ask));
  await allAnswer();
  await expect.poll(counted, EVENTUALLY).toBe(answered);
  const [paused = 0] = childrenOf(api.pid);
  process.kill(paused, 'SIGSTOP');
  try {
    await expect
      .poll(readiness, EVENTUALLY)
      .toMatchObject({ status: 200, processes: { configured: PROCESSES, answering: PROCESSES - 1 } });
    expect(await counted()).toBe(answered);
  } finally {
    process.kill(paused, 'SIGCONT');
  }
  await allAnswer();
});

test('a stop that a supervisor sends to every process is orderly', { timeout: 180_000 }, async () => {
  const client = await open();
  await expect.poll(() => client.messages.length, EVENTUALLY).toBeGreaterThan(0);
  const children = childrenOf(api.pid);
  for (const pid of [...children, api.pid]) process.kill(pid, 'SIGTERM');
  expect(await api.ended).toBe('exit code 0');
  await client.ended;
  expect(client.messages.at(-1)).toMatchObject({ event: 'bye', data: { reason: 'shutdown' } });
  expect(children.filter(isRunning)).toEqual([]);
  clients.length = 0;
  api = await startApi();
});

test('no process outlives the one that leads it', { timeout: 180_000 }, async () => {
  const children = childrenOf(api.pid);
  expect(children).toHaveLength(PROCESSES);
  process.kill(api.pid, 'SIGKILL');
  await api.ended;
  await expect.poll(() => children.filter(isRunning), EVENTUALLY).toEqual([]);
  api = await startApi();
});
