import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { keccak256 } from 'viem';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import type { LiveObserver } from '../../quoting/live/live-metrics.ts';
import { PoolsUnknownError } from '../../quoting/pools/pool-directory.ts';
import { startedWorld } from '../harness/open-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { account, frameText, hostileMessage, venueOf, word } from './hostile-frames.ts';
import {
  type Batch,
  type Batches,
  BLOCK_MS,
  builderSource,
  type LiveWorld,
  startLiveWorld,
  updateAll,
  waitForUpdates,
} from './live-world.ts';

/*
 * What a source may send, and when it is silent: no answer says that it is live without being so, and none is live with
 * words that are too old.
 */

/** A busy machine may show no frame for a second. */
const MAX_AGE_MS = 3_000;
/** `LIVE_ROUNDS=500` tries more. */
const ROUNDS = Number(process.env.LIVE_ROUNDS ?? 25);
const SEED = fc.readConfigureGlobal().seed ?? 0;

const world = startedWorld(() =>
  startLiveWorld({ flatPools: 2, packedPools: 2 }, (market) => ({ ...builderSource(market), maxAgeMs: MAX_AGE_MS })),
);

const UNOBSERVED: LiveObserver = {
  count: () => undefined,
  skipped: () => undefined,
  suspended: () => undefined,
  sealed: () => undefined,
};

/** Fails unless what an answer says of its basis is true. */
async function checkAnswer(updates: readonly QuoteUpdate[]): Promise<{ live: number; all: number }> {
  const { builder, chain } = world.market;
  const headBefore = (await chain.client.getBlock()).number;
  const { results } = await world.batch();
  let live = 0;
  for (const result of results) {
    if (!('quote' in result)) throw new Error(JSON.stringify(result));
    const { basis, priceProviderStatus } = result.quote;
    if (basis?.kind !== 'live') {
      expect(basis).toMatchObject({ targetBlockNumber: null, targetTimestamp: null, sourceAgeMs: null });
      continue;
    }
    live += 1;
    expect(updates).not.toEqual([]);
    expect(priceProviderStatus).not.toBe('feed_down');
    expect(basis.targetBlockNumber).toBe(Number(builder.block().number));
    expect(basis.targetBlockNumber).toBeGreaterThan(Number(headBefore));
    expect(basis.targetTimestamp).toBe(Number(builder.block().timeSecs));
    expect(basis.sourceAgeMs).toBeLessThan(MAX_AGE_MS);
  }
  return { live, all: results.length };
}

/** A result without what differs between reads of one state. */
const withoutAges = (result: LiveResult) =>
  'quote' in result
    ? { ...result.quote, serverTs: 0, basis: { ...result.quote.basis, sourceAgeMs: 0, sources: null } }
    : result;
type LiveResult = Awaited<ReturnType<LiveWorld['batch']>>['results'][number];

test(`${ROUNDS} rounds of hostile frames change no quote and no label`, { timeout: 600_000 }, async () => {
  const random = seededRandom(SEED);
  const { market } = world;
  let [live, all] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const updates = await updateAll(market, () => BigInt(random.integer(190, 210)));
    const expected = (await waitForUpdates(world, updates)).results;
    for (let each = 0; each < 6; each += 1) {
      market.builder.sendRaw(hostileMessage(random, world));
      // biome-ignore lint/plugin: a hostile frame has some time to take effect, or none.
      await sleep(random.integer(0, 60));
      const seen = await checkAnswer(updates);
      live += seen.live;
      all += seen.all;
    }
    // A message that is too long ends the connection, which is opened again.
    const after = (await waitForUpdates(world, updates)).results;
    expect(after.map(withoutAges)).toEqual(expected.map(withoutAges));
    await market.builder.buildBlock();
  }
  expect(live / all).toBeGreaterThan(0.9);
});

test('a source whose sockets are silent still answers over HTTP', async () => {
  const { builder } = world.market;
  const updates = await updateAll(world.market, () => 200n);
  await waitForUpdates(world, updates);
  builder.pause();
  // These come over HTTP alone.
  const later = await updateAll(world.market, () => 201n);
  await waitForUpdates(world, later);
  expect(await checkAnswer(later)).toMatchObject({ live: 4 });
  builder.resume();
});

test('once a source is silent, or its block has landed, quotes are those of the committed head', async () => {
  const { market, config } = world;
  const { builder } = market;
  const sources = [{ kind: 'builder-overrides' as const, wsUrls: [builder.builderStreamUrl], rpcUrls: [] }];
  const api = world.open({ chain: { ...config, live: { maxAgeMs: MAX_AGE_MS, sources } } });
  onTestFinished(() => api.stop());
  for (const end of ['silence', 'block'] as const) {
    const updates = await updateAll(market, () => 200n);
    await waitForUpdates(world, updates, api);
    if (end === 'block') await builder.buildBlock();
    else builder.pause();
    const both = () =>
      Promise.all(
        (['live', 'committed'] as const).map(async (basis) =>
          (await world.batch({ basis }, api)).results.map(withoutAges),
        ),
      );
    await vi.waitFor(async () => {
      const [live, committed] = await both();
      expect(live).toEqual(committed);
    });
    builder.resume();
  }
});

test('frames with malformed venues, and those of a block one too high, cost no live quote', async () => {
  const { market, config } = world;
  const { builder } = market;
  onTestFinished(() => builder.resume());
  // No request brings what is not taken of a frame that is pushed.
  const sources = [{ kind: 'builder-overrides' as const, wsUrls: [builder.builderStreamUrl], rpcUrls: [] }];
  const outcomes: string[] = [];
  // Time passes by requests alone: no frame becomes too old while a busy machine stands still.
  let now = performance.now();
  const api = world.open({
    chain: { ...config, live: { maxAgeMs: MAX_AGE_MS, sources } },
    observeLive: () => ({ ...UNOBSERVED, count: (_, outcome) => outcomes.push(outcome) }),
    now: () => now,
  });
  onTestFinished(() => api.stop());
  /** Sends texts before each request: a socket that was silent for long is dialled again. */
  const asking = (...texts: readonly string[]): Batches => ({
    batch(body) {
      now += 20;
      for (const text of texts) builder.sendRaw(text);
      return api.batch(body);
    },
  });
  for (const spoilt of [{}, null, [], 'x', 7, { stateOverride: null }, { stateOverride: { [account(8)]: null } }]) {
    const updates = await updateAll(market, () => 200n);
    builder.pause();
    const { number } = builder.block();
    const venues = venueOf({ [market.registry]: Object.assign({}, ...updates.map(({ words }) => words)) });
    const raw = JSON.parse(frameText(number, { [account(6)]: spoilt, ...venues }));
    await waitForUpdates(world, updates, asking(JSON.stringify({ ...raw, blockNumber: String(number) })));
    outcomes.splice(0);
    for (let asked = 0; asked < 5 || !outcomes.includes('malformed'); asked += 1) {
      const { results } = await world.batch({}, asking(frameText(number + 1n, venues), 'read after it'));
      const targets = results.map((result) => 'quote' in result && result.quote.basis?.targetBlockNumber);
      expect(targets).toEqual(market.pools.map(() => Number(number)));
      // biome-ignore lint/plugin: the pace of requests.
      await sleep(20);
    }
    builder.resume();
    await builder.buildBlock();
  }
});

test('under five blocks a second no quote is live in a block that an earlier answer had as the head', async () => {
  const { market, api } = world;
  const { builder, pools } = market;
  const times = new Map<number, number>();
  let isOver = false;
  let [head, live] = [0, 0];
  const ask = async () => {
    while (!isOver) {
      // biome-ignore lint/plugin: the pace of requests.
      await sleep(3);
      const before = head;
      const { results } = JSON.parse((await api.batch({ pools: pools.map(({ address }) => address) })).text) as Batch;
      for (const result of results) {
        const basis = 'quote' in result ? result.quote.basis : undefined;
        head = Math.max(head, basis?.blockNumber ?? 0);
        if (basis?.kind !== 'live') continue;
        live += 1;
        expect(basis.targetBlockNumber).toBeGreaterThan(before);
        expect(basis.targetTimestamp).toBe(times.get(basis.targetBlockNumber ?? 0));
        expect(basis.sourceAgeMs).toBeLessThan(MAX_AGE_MS);
      }
    }
  };
  const asking = [ask(), ask()];
  for (let block = 0; block < 40 || live <= 100; block += 1) {
    const { number, timeSecs } = builder.block();
    times.set(Number(number), Number(timeSecs));
    await updateAll(market, () => 200n);
    builder.sendFrames();
    // biome-ignore lint/plugin: the pace of blocks.
    await sleep(130);
    await builder.buildBlock();
    // biome-ignore lint/plugin: the pace of blocks.
    await sleep(30);
  }
  await vi.waitUntil(() => head + 1 === Number(builder.block().number));
  isOver = true;
  await Promise.all(asking);
});

test.each(['refuse', 'ignore', 'ignoreBlock'] as const)(
  'where nodes do not run calls in the block being built (%s), quotes are committed, and it is reported',
  async (how) => {
    const { market, config, batch } = world;
    const updates = await updateAll(market, () => 200n);
    await waitForUpdates(world, updates);
    const proxy = await startRpcProxy(market.chain.rpcUrl);
    proxy.misbehave({ kind: 'noOverrides', how });
    const reported: string[] = [];
    const api = world.open({
      chain: { ...config, rpcUrls: [proxy.url] },
      observeLive: () => ({ ...UNOBSERVED, suspended: () => reported.push(how) }),
    });
    onTestFinished(async () => {
      await api.stop();
      await proxy.stop();
    });
    await expect.poll(async () => (await batch({}, api)).results.length > 0 && reported.length > 0).toBe(true);
    const { results } = await batch({ include: 'stateOverride' }, api);
    const committed = await batch({ basis: 'committed' }, api);
    expect(results.map(withoutAges)).toEqual(committed.results.map(withoutAges));
    expect(results.every((result) => 'quote' in result && result.quote.basis?.kind === 'committed')).toBe(true);
  },
);

test('headers and errors name the basis', async () => {
  const { market, api, config } = world;
  const updates = await updateAll(market, () => 200n);
  await waitForUpdates(world, updates);
  const path = `/public/v1/evm/${config.chainId}/${market.pools[0]?.address}/bid_ask`;
  const headersOf = async (query: string) => {
    const { headers } = await api.request(path + query);
    return ['X-Quote-Basis', 'X-Target-Block', 'X-Block-Number'].map((name) => headers.get(name));
  };
  const head = Number((await market.chain.client.getBlock()).number);
  expect(await headersOf('')).toEqual(['live', `${head + 1}`, `${head}`]);
  expect(await headersOf('?basis=committed')).toEqual(['committed', null, `${head}`]);
  for (const query of ['?basis=pending', '?include=code']) {
    const { status, text } = await api.request(path + query);
    expect([status, Object.keys(JSON.parse(text))]).toEqual([400, ['error']]);
  }
  for (const body of [{ basis: 'pending' }, { include: 'code' }]) {
    const { status } = await api.batch({ pools: [market.pools[0]?.address], ...body });
    expect(status).toBe(400);
  }
});

test('words of a pool or a token in a frame do not reach a call', async () => {
  const { market } = world;
  const updates = await updateAll(market, () => 200n);
  await waitForUpdates(world, updates);
  const forged = Object.fromEntries(
    [market.token0, ...market.pools.map(({ address }) => address)].map((at) => [at, { [keccak256('0x')]: word(1) }]),
  );
  market.builder.sendRaw(frameText(market.builder.block().number, venueOf(forged)));
  // biome-ignore lint/plugin: they may reach no call in this time.
  await sleep(150);
  const { overrides } = await world.batch({ include: 'stateOverride' });
  expect(Object.keys(overrides?.stateOverride ?? {})).toEqual([market.registry]);
});

test('quotes become live in an API that started before its first index', async () => {
  const directory = fixedDirectory(world.served);
  let isIndexed = false;
  const api = world.open({
    directory: { table: () => (isIndexed ? directory.table() : Promise.reject(new PoolsUnknownError(true, null))) },
  });
  onTestFinished(() => api.stop());
  const updates = await updateAll(world.market, () => 200n);
  await expect(world.batch({}, api)).rejects.toThrow('503');
  isIndexed = true;
  await waitForUpdates(world, updates, api);
});

test('after a reorganisation no quote is of the block that was replaced', async () => {
  const other = await startLiveWorld({ flatPools: 1, packedPools: 1 });
  onTestFinished(() => other.stop());
  const { market, api } = other;
  const { client } = market.chain;
  for (let round = 0; round < 3; round += 1) {
    await market.builder.buildBlock();
    const updates = await updateAll(market, () => 200n);
    await waitForUpdates(other, updates);
    const replaced = (await client.getBlock()).hash;
    await client.request({ method: 'anvil_reorg', params: [1, []] } as never);
    const { hash, number, timestamp } = await client.getBlock();
    expect(hash).not.toBe(replaced);
    const ask = () => api.batch({ pools: market.pools.map(({ address }) => address) });
    await expect.poll(async () => (await ask()).headers.get('X-Block-Hash'), { interval: 20 }).toBe(hash);
    for (let asked = 0; asked < 20; asked += 1) {
      const { text, headers } = await ask();
      expect(headers.get('X-Block-Hash')).toBe(hash);
      for (const result of (JSON.parse(text) as Batch).results) {
        const basis = 'quote' in result ? result.quote.basis : undefined;
        if (basis?.kind !== 'live') continue;
        expect(basis).toMatchObject({
          blockNumber: Number(number),
          targetBlockNumber: Number(number) + 1,
          targetTimestamp: Number(timestamp) + BLOCK_MS / 1_000,
        });
      }
      // biome-ignore lint/plugin: the replaced block may not come back in the time of these requests.
      await sleep(20);
    }
  }
});
