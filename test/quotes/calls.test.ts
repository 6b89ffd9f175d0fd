import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { type QuoteApi, quoteApi } from './quote-api.ts';
import { chainConfig, longTimeouts, makePool, movePrice, quoteWorld, type WorldPool } from './quote-world.ts';
import { directoryOf } from './served-pool.ts';

const POOLS = 12;
/** So many that a busy machine, which asks seldom, still asks far more often than it reads. */
const CLIENTS = 100;

const world = quoteWorld(async (on) => {
  const pair = await on.pair(18, 6);
  const pools: WorldPool[] = [];
  for (let index = 0; index < POOLS; index++) pools.push(await makePool(on, { pair, price: 2_000 }));
  const addresses = pools.map(({ address }) => address);
  return { pools, addresses, directory: await directoryOf(on, addresses) };
});

const apiWith = (blockTimeMs: number, cacheBins = 100_000): QuoteApi =>
  quoteApi({
    chain: chainConfig(31337, [world.anvil.url], { blockTimeMs }),
    directory: world.directory,
    quotes: { ...longTimeouts, cacheBins },
  });

const countCalls = (api: QuoteApi) => api.calls.filter((call) => call.startsWith('eth_call')).length;
const ask = (api: QuoteApi, pool: Address, depth = true) => api.quote(pool, depth);

test('a thousand clients of one block cost what one does, single and batch, with depth and without', async () => {
  const api = apiWith(60_000);
  await api.results(world.addresses);
  const calls = countCalls(api);
  expect(calls).toBe(3);
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => {
      const pool = world.addresses[index % POOLS] as Address;
      return index % 10 === 0 ? api.results(world.addresses, index % 20 === 0) : ask(api, pool, index % 3 === 0);
    }),
  );
  expect(countCalls(api)).toBe(calls);
});

test('clients that come together before anything is read share its calls', async () => {
  const api = apiWith(60_000);
  await Promise.all(Array.from({ length: 300 }, (_, index) => ask(api, world.addresses[index % POOLS] as Address)));
  expect(api.calls).toEqual(['eth_getBlockByNumber:ok', 'eth_chainId:ok', ...Array(3).fill('eth_call:ok')]);
});

/** Raises a pool's price by one, again and again, until it is stopped. */
function keepRising(pool: WorldPool, everyMs: number): { stop(): Promise<number> } {
  let price = 2_000;
  let isOn = true;
  const rising = (async () => {
    while (isOn) {
      price += 1;
      await movePrice(world, pool, price);
      // biome-ignore lint/plugin: the pace of prices.
      await sleep(everyMs);
    }
    return price;
  })();
  return {
    stop: () => {
      isOn = false;
      return rising;
    },
  };
}

test('calls grow with blocks, not with clients', async () => {
  const api = apiWith(300);
  const [first] = world.pools as [WorldPool];
  const blockBefore = await world.chain.client.getBlockNumber();
  const shown = new Set<string>();
  const rising = keepRising(first, 200);
  const start = Date.now();
  let requested = 0;
  const hasSeenEnough = () => Date.now() > start + 3_000 && shown.size > 2 && requested > 10 * api.calls.length;
  while (!hasSeenEnough() && Date.now() < start + 30_000) {
    await Promise.all(
      Array.from({ length: CLIENTS }, () => ask(api, first.address).then(({ bidAdj }) => shown.add(bidAdj))),
    );
    requested += CLIENTS;
    // biome-ignore lint/plugin: the pace of requests.
    await sleep(5);
  }
  const periods = Math.ceil((Date.now() - start) / 500);
  await rising.stop();
  const blocks = Number((await world.chain.client.getBlockNumber()) - blockBefore);
  // One look and one read, of two calls, per half second at most, and the first.
  // In ten blocks transfers are tried once.
  expect(countCalls(api)).toBeLessThanOrEqual(2 * (periods + 2) + Math.ceil(blocks / 10));
  const [lookups = 0, ids = 0] = ['eth_getBlockByHash:ok', 'eth_chainId:ok'].map(
    (name) => api.calls.filter((call) => call === name).length,
  );
  expect(api.calls.length - countCalls(api) - lookups - ids).toBeLessThanOrEqual(periods + 2);
  // The chain of the first head, and of each after blocks that no look saw.
  expect(ids).toBeLessThanOrEqual(lookups + 1);
  // And of each block that no look saw, its header once.
  expect(lookups).toBeLessThanOrEqual(blocks);
  expect(shown.size).toBeGreaterThan(2);
  expect(requested).toBeGreaterThan(10 * api.calls.length);
});

test('a quote is at most one block and a second old', async () => {
  const api = apiWith(200);
  const [, second] = world.pools as [WorldPool, WorldPool];
  for (const price of [2_010, 2_020, 2_030]) {
    await ask(api, second.address);
    await movePrice(world, second, price);
    const movedAt = performance.now();
    let lastOldAt = movedAt;
    const isNew = async () => {
      const askedAt = performance.now();
      const { bidAdj } = await ask(api, second.address);
      const is = Number(BigInt(bidAdj) >> 64n) >= price - 2;
      if (!is) lastOldAt = askedAt;
      return is;
    };
    await expect.poll(isNew, { interval: 20 }).toBe(true);
    expect(lastOldAt - movedAt).toBeLessThan(1_200);
  }
});

test('never an older block than was shown before, whatever the nodes and the load do', async () => {
  const api = apiWith(100);
  const [, , third] = world.pools as [WorldPool, WorldPool, WorldPool];
  const rising = keepRising(third, 100);
  const start = Date.now();
  let highest = 0n;
  const hasSeenEnough = () => Date.now() > start + 2_500 && highest >> 64n > 2_003n;
  while (!hasSeenEnough() && Date.now() < start + 30_000) {
    const [deep, shallow, [result]] = await Promise.all([
      ask(api, third.address),
      ask(api, third.address, false),
      api.results([third.address]),
    ]);
    const bids = [deep.bidAdj, shallow.bidAdj, result && 'quote' in result ? result.quote.bidAdj : '0'].map(BigInt);
    for (const bid of bids) expect(bid).toBeGreaterThanOrEqual(highest);
    for (const bid of bids) if (bid > highest) highest = bid;
  }
  const last = await rising.stop();
  expect(last).toBeGreaterThan(2_002);
  expect(highest >> 64n).toBeGreaterThan(2_000n);
});

test('a cache that holds less than a batch still answers it', async () => {
  const api = apiWith(60_000, 20);
  const results = await api.results(world.addresses);
  expect(results.every((result) => 'quote' in result && result.quote.priceProviderStatus === 'healthy')).toBe(true);
});
