import { Redis } from 'ioredis';
import type { Address } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { MULTICALL3 } from '../config/chains-schema.ts';
import { loadArtifact } from '../devnet/artifacts.ts';
import { PackedMarket } from '../devnet/packed/market.fixture.ts';
import { packedVariant } from '../devnet/packed/variants.ts';
import { evenBins } from '../devnet/pools.ts';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { type Redis as RedisServer, startRedis } from '../devnet/services/redis.ts';
import {
  chainConfig,
  evenShares,
  makeCutPool,
  makePool,
  movePrice,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from './quotes/quote-world.ts';
import { fixedDirectory, servedPool } from './quotes/served-pool.ts';
import { connectSse, type SseClient } from './stream/sse-client.ts';
import { type StreamApi, startStreamApi } from './stream/stream-api.ts';

const PREFIX = 'pamm';
const WAIT = { timeout: 30_000, interval: 20 };
const KEY = { Authorization: 'Bearer good' };
const PRICE = 2_000;
const BLOCKS = 8;
/** Another process leads within this time. */
const TAKEOVER_MS = 2_000;

let world: QuoteWorld;
/** Of this file alone: a test looks at every command. */
let redis: RedisServer;
let plain: WorldPool;
let guarded: WorldPool;
let still: WorldPool;
let pools: readonly Address[];
let directory: ReturnType<typeof fixedDirectory>;
const apis: StreamApi[] = [];
const clients: SseClient[] = [];

beforeAll(async () => {
  [world, redis] = await Promise.all([startQuoteWorld(), startRedis({ prefix: PREFIX })]);
  const pair = await world.pair(18, 6);
  const spec = { pair, price: PRICE, bins: evenBins(-3, 3, 1_000), shares: evenShares(-3, 3, SHARES_OF_ONE) };
  plain = await makePool(world, spec);
  still = await makePool(world, spec);
  // Calls say how far its guards let it trade.
  guarded = await makeCutPool(world, pair, 20, 10);
  pools = [plain, guarded, still].map(({ address }) => address);
  directory = fixedDirectory(
    await Promise.all(pools.map((address) => servedPool(world.chain, world.deployment, address))),
  );
}, 120_000);

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(apis.splice(0).map((api) => api.stop()));
});

afterAll(async () => {
  await Promise.all([world?.stop(), redis?.stop()]);
});

async function startApi(rpcUrl = world.anvil.url): Promise<StreamApi> {
  const chain = chainConfig(31337, [rpcUrl]);
  const api = await startStreamApi({ chain, directory, sharedBy: { redisUrl: redis.url, prefix: PREFIX } });
  apis.push(api);
  return api;
}

/** One that leads, and others that follow it. */
async function startGroup(followers: number): Promise<[StreamApi, ...StreamApi[]]> {
  const first = await startApi();
  await vi.waitUntil(first.isLeading, WAIT);
  const others = await Promise.all(Array.from({ length: followers }, () => startApi()));
  return [first, ...others];
}

async function open({ base }: StreamApi, depth: boolean): Promise<SseClient> {
  const client = await connectSse(`${base}/stream?pools=${pools.join(',')}&depth=${depth}`);
  clients.push(client);
  return client;
}

const height = async () => Number(await world.chain.client.getBlockNumber());

/** Mines a block with another price, and waits until these clients have all of it. */
async function mineAndFollow(of: readonly SseClient[]): Promise<void> {
  await movePrice(world, plain, PRICE * (1 + Math.random() / 100));
  const number = await height();
  for (const { book } of of) await expect.poll(() => book.block ?? -1, WAIT).toBeGreaterThanOrEqual(number);
}

async function quotesOf({ base }: StreamApi, depth: boolean): Promise<object[]> {
  const ask = async (pool: Address) => {
    const response = await fetch(`${base}/${pool}/bid_ask?depth=${depth}`);
    const quote = (await response.json()) as object;
    return { ...quote, serverTs: 0, status: response.status, block: response.headers.get('X-Block-Hash') };
  };
  return Promise.all(pools.map(ask));
}

const callsOf = ({ calls }: StreamApi) => calls.length;

test('followers give what the leader gives, guards included, and call no node', async () => {
  const [leader, ...followers] = await startGroup(2);
  const group = [leader, ...followers];
  const streams = await Promise.all(group.map((api) => open(api, true)));
  // Reports reach the leader.
  for (let block = 0; block < 5; block += 1) await mineAndFollow(streams);
  const before = group.map(callsOf);
  // A process that waits for the CPU may lose its lease to another one.
  const led = new Set(group.filter((api) => api.isLeading()));
  for (let block = 0; block < BLOCKS; block += 1) {
    await mineAndFollow(streams);
    for (const api of group) if (api.isLeading()) led.add(api);
    const [expected, ...others] = await Promise.all(group.map((api) => quotesOf(api, true)));
    for (const quotes of others) expect(quotes).toEqual(expected);
    expect(expected?.map((quote) => (quote as { status: number }).status)).toEqual([200, 200, 200]);
    expect(streams.map(({ book }) => book.quotes.size)).toEqual([3, 3, 3]);
  }
  const made = group.map((api, index) => callsOf(api) - (before[index] ?? 0));
  // Two for prices, and two that ask the guards.
  expect(made.reduce((sum, calls) => sum + calls)).toBeGreaterThanOrEqual(4 * BLOCKS);
  expect(led.size).toBeLessThan(group.length);
  for (const [index, api] of group.entries()) if (!led.has(api)) expect(made[index]).toBe(0);
});

test('a pool that no client of the leader requests is read for those of others', async () => {
  const [leader, follower] = (await startGroup(1)) as [StreamApi, StreamApi];
  const streams = [await open(follower, false)];
  for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
  expect(leader.warmer.requested.own()).toEqual([]);
  expect(leader.warmer.requested.list()).toHaveLength(3);
  const before = callsOf(follower);
  for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
  // The lease may move on a machine that is too slow for it.
  if (leader.isLeading()) expect(callsOf(follower) - before).toBe(0);
  // Once asked for with depth it is another read, which the process makes that was asked.
  expect(await quotesOf(follower, true)).toEqual(await quotesOf(leader, true));
});

test('a process that stops is followed by another, and nothing is lost', async () => {
  const [leader, follower] = (await startGroup(1)) as [StreamApi, StreamApi];
  const stream = await open(follower, true);
  await mineAndFollow([stream]);
  apis.splice(apis.indexOf(leader), 1);
  await leader.stop();
  const stoppedAt = performance.now();
  await vi.waitUntil(follower.isLeading, WAIT);
  expect(performance.now() - stoppedAt).toBeLessThan(TAKEOVER_MS);
  await mineAndFollow([stream]);
  expect(stream.book.quotes.size).toBe(3);
});

test('a leader whose nodes fail gives way to one whose nodes do not', async () => {
  const proxy = await startRpcProxy(world.anvil.url, false);
  try {
    const leader = await startApi(proxy.url);
    await vi.waitUntil(leader.isLeading, WAIT);
    const follower = await startApi();
    const stream = await open(follower, true);
    await mineAndFollow([stream]);
    proxy.misbehave({ kind: 'down' });
    await vi.waitUntil(follower.isLeading, WAIT);
    expect(leader.isLeading()).toBe(false);
    const firstOfLeader = async () => {
      await mineAndFollow([stream]);
      return (await quotesOf(leader, true))[0];
    };
    await expect.poll(firstOfLeader, WAIT).toMatchObject({ status: 200 });
    // It follows: clients of it have every block although none of its nodes answers.
    const streams = [stream, await open(leader, true)];
    for (let block = 0; block < 3; block += 1) await mineAndFollow(streams);
    expect(streams.map(({ book }) => book.quotes.size)).toEqual([3, 3]);
  } finally {
    await proxy.stop();
  }
});

test('a process that is alone publishes nothing but that it is there', async () => {
  const alone = await startApi();
  await vi.waitUntil(alone.isLeading, WAIT);
  const stream = await open(alone, true);
  const admin = new Redis(redis.url.replace(/\/\/[^@]*@/, '//'));
  try {
    await mineAndFollow([stream]);
    const seen: number[] = [];
    const monitor = await admin.monitor();
    monitor.on('monitor', (_time: string, [command = '', , text = '']: string[]) => {
      if (command.toLowerCase() === 'publish') seen.push(text.length);
    });
    for (let block = 0; block < 4; block += 1) await mineAndFollow([stream]);
    monitor.disconnect();
    expect(seen.length).toBeGreaterThan(0);
    expect(Math.max(...seen)).toBeLessThan(300);
  } finally {
    admin.disconnect();
  }
});

test('what is published is no part of the append-only file, and of what is kept all ends by itself but the token', async () => {
  const [leader, follower] = (await startGroup(1)) as [StreamApi, StreamApi];
  const streams = [await open(leader, true), await open(follower, true)];
  for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
  const admin = new Redis(redis.url.replace(/\/\/[^@]*@/, '//'));
  try {
    const keys = (await admin.keys('*')).sort();
    expect(keys.map((key) => key.replace(/reads-.*/, 'reads'))).toEqual([
      `${PREFIX}:epoch`,
      `${PREFIX}:fence:reads`,
      `${PREFIX}:lease:reads`,
    ]);
    const sizes = await Promise.all(keys.map((key) => admin.strlen(key)));
    expect(Math.max(...sizes)).toBeLessThan(20);
    expect(await admin.pttl(keys[2] ?? '')).toBeGreaterThan(0);
  } finally {
    admin.disconnect();
  }
});

test.each(['sumOnPrice', 'quotient'] as const)(
  'packed pools that charge by the rule %s, whose curves take calls',
  async (rule) => {
    const market = await PackedMarket.open(packedVariant(rule));
    const { chain, deployment, anvil } = market.setup;
    try {
      await chain.client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
      const bins = evenBins(-4, 4, 10_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 2 ? 300 : 800 }));
      const { pool } = await market.fundedPool(() => [], undefined, { bins, adminNotionalFeeE8: 5_000 });
      const address = pool.toLowerCase() as Address;
      const served = fixedDirectory([await servedPool(chain, deployment, address, 'bidAsk', 'packed')]);
      const config = chainConfig(chain.chainId, [chain.rpcUrl], { blockTimeMs: 200 });
      const sharedBy = { redisUrl: redis.url, prefix: PREFIX };
      const group = [0, 1].map(() => startStreamApi({ chain: config, directory: served, sharedBy }));
      apis.push(...(await Promise.all(group)));
      await vi.waitUntil(() => apis.some((api) => api.isLeading()), WAIT);
      const streams = await Promise.all(
        apis.map(({ base }) => connectSse(`${base}/stream?pools=${address}`, undefined, KEY)),
      );
      clients.push(...streams);
      const follow = async () => {
        await chain.client.mine({ blocks: 1 });
        const number = Number(await chain.client.getBlockNumber());
        for (const { book } of streams) await expect.poll(() => book.block ?? -1, WAIT).toBeGreaterThanOrEqual(number);
      };
      for (let block = 0; block < 5; block += 1) await follow();
      const before = apis.map(callsOf);
      for (let block = 0; block < BLOCKS; block += 1) {
        await follow();
        const [one, other] = streams.map(({ book }) => book.quotes.get(address)?.quote);
        expect(one).toMatchObject({ priceProviderStatus: 'healthy' });
        expect({ ...other, serverTs: 0 }).toEqual({ ...one, serverTs: 0 });
      }
      const made = apis.map((api, index) => callsOf(api) - (before[index] ?? 0));
      const follower = apis.findIndex((api) => !api.isLeading());
      // One that waits for the CPU may read a block by itself.
      expect(made[follower]).toBeLessThan(BLOCKS);
      expect(made[1 - follower]).toBeGreaterThanOrEqual(2 * BLOCKS);
    } finally {
      await anvil.stop();
    }
  },
);

// Last, as it leaves a chain whose clock is behind.
test('clients of all processes learn of every reorganisation, from its lowest block', async () => {
  const group = await startGroup(2);
  const streams = await Promise.all(group.map((api) => open(api, false)));
  for (let block = 0; block < 3; block += 1) await mineAndFollow(streams);
  for (const depth of [2, 6, 3, 1, 5, 4]) {
    for (let block = 0; block < depth; block += 1) await mineAndFollow(streams);
    const lowest = (await height()) - depth + 1;
    const seen = streams.map(({ messages }) => messages.length);
    await world.chain.client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
    await mineAndFollow(streams);
    const named = streams.map(({ messages }, index) =>
      messages
        .slice(seen[index])
        .flatMap(({ event, data }) => (event === 'reorg' ? [(data as { fromBlock: number }).fromBlock] : [])),
    );
    expect(named).toEqual(streams.map(() => [lowest]));
  }
});
