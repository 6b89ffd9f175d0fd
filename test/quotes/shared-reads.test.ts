import { Redis } from 'ioredis';
import type { Address } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { evenBins } from '../../devnet/pools.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startRedis } from '../../local/services/redis.ts';
import { connectSse, type SseClient } from '../stream/sse-client.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { openPackedMarket } from './packed-world.ts';
import { chainConfig, makeCutPool, makePool, movePrice, quoteWorld } from './quote-world.ts';
import { directoryOf, fixedDirectory, servedPool } from './served-pool.ts';

const PREFIX = 'pamm';
const WAIT = { interval: 20 };
const KEY = { Authorization: 'Bearer good' };
const PRICE = 2_000;
const BLOCKS = 8;
/** Of a busy machine, on which few blocks are read once. */
const SHARED_MS = 90_000;

const apis: StreamApi[] = [];
const clients: SseClient[] = [];
const world = quoteWorld(async (on, ends) => {
  // Of this file alone: a test looks at every command.
  const redis = await startRedis({ prefix: PREFIX });
  ends.defer(redis.stop);
  const pair = await on.pair(18, 6);
  const [plain, still] = [await makePool(on, { pair, price: PRICE }), await makePool(on, { pair, price: PRICE })];
  // Calls say how far its guards let it trade.
  const guarded = await makeCutPool(on, pair, 20, 10);
  const pools = [plain, guarded, still].map(({ address }) => address);
  return { redis, plain, still, guarded, pools, directory: await directoryOf(on, pools) };
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(apis.splice(0).map((api) => api.stop()));
});

async function startApi(rpcUrl = world.anvil.url): Promise<StreamApi> {
  const chain = chainConfig(31337, [rpcUrl]);
  const api = await startStreamApi({
    chain,
    directory: world.directory,
    sharedBy: { redisUrl: world.redis.url, prefix: PREFIX },
  });
  apis.push(api);
  return api;
}

const startGroup = (processes: number) => Promise.all(Array.from({ length: processes }, () => startApi()));

async function open({ base }: StreamApi, depth: boolean): Promise<SseClient> {
  const client = await connectSse(`${base}/stream?pools=${world.pools.join(',')}&depth=${depth}`);
  clients.push(client);
  return client;
}

const height = async () => Number(await world.chain.client.getBlockNumber());

/** Mines a block with another price, and waits until these clients have all of it. */
async function mineAndFollow(of: readonly SseClient[]): Promise<void> {
  await movePrice(world, world.plain, PRICE * (1 + Math.random() / 100));
  const number = await height();
  for (const { book } of of) await expect.poll(() => book.block ?? -1, WAIT).toBeGreaterThanOrEqual(number);
}

async function quotesOf({ base }: StreamApi, depth: boolean): Promise<object[]> {
  const ask = async (pool: Address) => {
    const response = await fetch(`${base}/${pool}/bid_ask?depth=${depth}`);
    const quote = (await response.json()) as object;
    return { ...quote, serverTs: 0, status: response.status, block: response.headers.get('X-Block-Hash') };
  };
  return Promise.all(world.pools.map(ask));
}

/**
 * Waits until some blocks cost all processes together few calls: one that waits for the CPU may read a block by itself.
 *
 * @param most calls that a block takes that was read once
 * @param follow makes a block, and waits until all clients have it, so that all calls for it are made
 * @returns calls for `BLOCKS` such blocks
 */
async function awaitShared(group: readonly StreamApi[], most: number, follow: () => Promise<void>): Promise<number> {
  const shared: number[] = [];
  const one = async () => {
    const before = callsOf(group);
    await follow();
    const made = callsOf(group) - before;
    if (made <= most) shared.push(made);
    return shared.length;
  };
  await expect.poll(one, { ...WAIT, timeout: SHARED_MS }).toBe(BLOCKS);
  return shared.reduce((sum, made) => sum + made, 0);
}

/** Calls for the state of the chain by all. */
const callsOf = (group: readonly StreamApi[]) =>
  group.flatMap(({ calls }) => calls.filter((method) => method === 'eth_call')).length;

test('processes read each block once, guards included, and give the same', async () => {
  const group = await startGroup(3);
  const streams = await Promise.all(group.map((api) => open(api, true)));
  // Each hears what the others have requests for.
  for (let block = 0; block < 5; block += 1) await mineAndFollow(streams);
  // Two for prices, and two that ask the guards.
  const made = await awaitShared(group, 1.5 * 4, async () => {
    await mineAndFollow(streams);
    const [expected, ...others] = await Promise.all(group.map((api) => quotesOf(api, true)));
    for (const quotes of others) expect(quotes).toEqual(expected);
    expect(expected?.map((quote) => (quote as { status: number }).status)).toEqual([200, 200, 200]);
    expect(streams.map(({ book }) => book.quotes.size)).toEqual([3, 3, 3]);
  });
  expect(made).toBeGreaterThanOrEqual(4 * BLOCKS);
});

test('a pool that no client of the reading process requests is read for those of others', async () => {
  const group = (await startGroup(2)) as [StreamApi, StreamApi];
  const [reader, other] = group;
  const streams = [await connectSse(`${reader.base}/stream?pools=${world.still.address}&depth=false`)];
  clients.push(...streams);
  for (let block = 0; block < 3; block += 1) await mineAndFollow(streams);
  streams.push(await open(other, false));
  for (let block = 0; block < 5; block += 1) await mineAndFollow(streams);
  expect([reader, other].map(({ chain }) => chain.requested.own().length)).toEqual([1, 3]);
  expect([reader, other].map(({ chain }) => chain.requested.list().length)).toEqual([3, 3]);
  await awaitShared(group, 1.5 * 4, () => mineAndFollow(streams));
  // Once asked for with depth it is another read, which the process makes that was asked.
  expect(await quotesOf(other, true)).toEqual(await quotesOf(reader, true));
});

test('when a process stops, another reads, and nothing is lost', async () => {
  const group = await startGroup(2);
  const streams = await Promise.all(group.map((api) => open(api, true)));
  for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
  for (const [index, api] of group.entries()) {
    const other = streams[1 - index] as SseClient;
    streams[index]?.close();
    apis.splice(apis.indexOf(api), 1);
    await api.stop();
    if (index === 0) await mineAndFollow([other]);
    if (index === 0) expect(other.book.quotes.size).toBe(3);
  }
});

test('a process whose nodes fail shows what the others read', async () => {
  const proxy = await startRpcProxy(world.anvil.url, false);
  try {
    const group = [await startApi(proxy.url), await startApi()] as const;
    const streams = await Promise.all(group.map((api) => open(api, true)));
    for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
    proxy.misbehave({ kind: 'down' });
    const first = async () => {
      await mineAndFollow([streams[1] as SseClient]);
      return (await quotesOf(group[0], true))[0];
    };
    await expect.poll(first, WAIT).toMatchObject({ status: 200 });
    // Clients have every block although none of its nodes answers.
    for (let block = 0; block < 3; block += 1) await mineAndFollow(streams);
    expect(streams.map(({ book }) => book.quotes.size)).toEqual([3, 3]);
  } finally {
    await proxy.stop();
  }
});

test('a process that is alone publishes no reads, only its heads and what it has requests for', async () => {
  const stream = await open(await startApi(), true);
  const admin = new Redis(world.redis.url.replace(/\/\/[^@]*@/, '//'));
  try {
    await mineAndFollow([stream]);
    const seen = new Set<string>();
    // All that is published, and all that is set.
    await admin.config('SET', 'notify-keyspace-events', 'K$');
    admin.on('pmessage', (_pattern: string, channel: string) => seen.add(channel.replace(/.*:/, '')));
    await admin.psubscribe('*');
    await expect
      .poll(async () => {
        await mineAndFollow([stream]);
        return [...seen].sort();
      }, WAIT)
      .toEqual(['heads', 'requests']);
  } finally {
    admin.disconnect();
  }
});

test('what is published is no part of the append-only file, and all that is kept ends by itself', async () => {
  const group = await startGroup(2);
  const streams = await Promise.all(group.map((api) => open(api, true)));
  for (let block = 0; block < 4; block += 1) await mineAndFollow(streams);
  const admin = new Redis(world.redis.url.replace(/\/\/[^@]*@/, '//'));
  try {
    const keys = await admin.keys('*');
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(key).toMatch(new RegExp(`^${PREFIX}:reads-`));
      expect(await admin.strlen(key)).toBeLessThan(20);
      // -1: it never ends; -2: it has ended since.
      expect(await admin.pttl(key)).not.toBe(-1);
    }
  } finally {
    admin.disconnect();
  }
});

test.each(['sumOnPrice', 'quotient'] as const)(
  'packed pools that charge by the rule %s, whose curves take calls',
  async (rule) => {
    const market = await openPackedMarket(packedVariant(rule));
    const { chain, deployment, anvil } = market.setup;
    try {
      const bins = evenBins(-4, 4, 10_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 2 ? 300 : 800 }));
      const { pool } = await market.fundedPool(() => [], undefined, { bins, adminNotionalFeeE8: 5_000 });
      const address = pool.toLowerCase() as Address;
      const served = fixedDirectory([await servedPool(chain, deployment, address, 'bidAsk', 'packed')]);
      const config = chainConfig(chain.chainId, [chain.rpcUrl], { blockTimeMs: 200 });
      const sharedBy = { redisUrl: world.redis.url, prefix: PREFIX };
      const group = [0, 1].map(() => startStreamApi({ chain: config, directory: served, sharedBy }));
      apis.push(...(await Promise.all(group)));
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
      // Each for itself they would make twice two or three a block.
      const made = await awaitShared(apis, 3, async () => {
        await follow();
        const [one, other] = streams.map(({ book }) => book.quotes.get(address)?.quote);
        expect(one).toMatchObject({ priceProviderStatus: 'healthy' });
        expect({ ...other, serverTs: 0 }).toEqual({ ...one, serverTs: 0 });
      });
      expect(made).toBeGreaterThanOrEqual(2 * BLOCKS);
    } finally {
      await anvil.stop();
    }
  },
);

// Last, as it leaves a chain whose clock is behind.
test('clients of all processes learn of every reorganisation, from its lowest block', async () => {
  const group = await startGroup(3);
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
