import { Redis } from 'ioredis';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { redisUrlFor, startRedis } from '../../local/services/redis.ts';
import { encodeOwnUpdate, ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { startedWorld } from '../harness/open-world.ts';
import { newUuid } from '../pamm/sample-updates.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { type Capture, type CaptureOptions, startCapturedWorld } from './captured-world.ts';
import { batchesOf, updateAll, waitForLive } from './live-world.ts';

/*
 * Capture takes the words of live sources from the API, as its own user of Redis, and reads sources itself without one.
 */

const PREFIX = 'pamm';
const OWN = { sources: [{ kind: 'own' as const }] };
const WAIT = { interval: 100 };
const LIVE = ['healthy', 'healthy'];
const DOWN = ['feed_down', 'feed_down'];

/** The part of a message of words that tests change. */
interface SentWords {
  readonly id: string;
  readonly blocks: readonly { readonly sources: readonly { readonly parts: readonly object[] }[] }[];
}

const world = startedWorld(() => startCapturedWorld({ flatPools: 1, packedPools: 1 }, () => OWN));
const redis = startedWorld(() => startRedis({ prefix: PREFIX }));
let chain: ChainConfig;
/** Published updates and a builder. */
let both: LiveConfig;
let apis: StreamApi[] = [];
const captures: Capture[] = [];
const sharings: ReadSharing[] = [];

beforeAll(async () => {
  await world.api.stop(); // It shares no source.
  [chain] = world.file.chains as [ChainConfig];
  const wsUrls = [world.market.builder.builderStreamUrl];
  both = LiveConfig.parse({ sources: [...OWN.sources, { kind: 'builder-overrides', wsUrls }] });
});

beforeEach(async () => {
  await world.market.builder.buildBlock();
  await world.capture();
});

afterEach(async () => {
  await Promise.all(captures.splice(0).map((capture) => capture.stop()));
  for (const sharing of sharings.splice(0)) sharing.stop();
  await Promise.all(apis.splice(0).map((api) => api.stop()));
  await expect.poll(connections).toBe(0);
});

const connections = () => world.market.builder.connections();
const untilConnections = (count: number) => expect.poll(connections, { interval: 10 }).toBe(count);

async function openApi(live = both): Promise<StreamApi> {
  const sharedBy = { redisUrl: redis.url, prefix: PREFIX };
  const api = await startStreamApi({ chain: { ...chain, live }, directory: fixedDirectory(world.served), sharedBy });
  apis.push(api);
  return api;
}

/** A capture that follows the API. */
function openFollower(live: CaptureOptions['live'] = both): Capture {
  const redisUrl = redisUrlFor(redis.url, 'capture');
  const logger = createLogger('test', 'silent');
  const sharing = new ReadSharing({
    redisUrl,
    prefix: PREFIX,
    metrics: createMetrics('test'),
    logger,
    now: () => performance.now(),
  });
  sharings.push(sharing);
  return openCapture({ live, sharing });
}

function openCapture(options: CaptureOptions): Capture {
  const capture = world.openCapture(options);
  captures.push(capture);
  return capture;
}

async function statuses(capture: Capture): Promise<readonly unknown[]> {
  await capture.run();
  const { data } = await world.listing.page(chain.chainId, { count: 500, minTvlFiat: 0 });
  const byPool = new Map(data.map(({ poolAddress, priceProviderStatus }) => [poolAddress, priceProviderStatus]));
  return world.market.pools.map(({ address }) => byPool.get(address));
}

const captured = (capture: Capture, expected: readonly unknown[]) =>
  expect.poll(() => statuses(capture), WAIT).toEqual(expected);

async function withAdmin<T>(use: (admin: Redis) => Promise<T>): Promise<T> {
  const admin = new Redis(redis.port);
  try {
    return await use(admin);
  } finally {
    admin.disconnect();
  }
}

/** Publishes an update of each pool for the block being built, as the API does that takes it from a maker. */
async function publishOwn(hundredths: bigint): Promise<void> {
  const { builder, pools } = world.market;
  for (const { maker } of pools) {
    const { transaction, block } = await maker.sign(builder.block(), priceAround(hundredths));
    const blocks = { fromBlock: block.number, untilBlock: block.number };
    const update = { sender: 'maker', uuid: newUuid(), seq: 1n, tx: transaction, ...blocks, sentAtMs: Date.now() };
    await withAdmin((admin) => admin.publish(ownUpdatesChannel(PREFIX, chain.chainId), encodeOwnUpdate(update)));
  }
}

const reading = async () =>
  withAdmin(async (admin) => (await admin.pubsub('NUMSUB', ownUpdatesChannel(PREFIX, chain.chainId)))[1]);

/** The adjusted bid of each pool, once all are live. */
async function liveBids(api: StreamApi): Promise<readonly string[]> {
  const { results } = await waitForLive(world, batchesOf(api));
  return results.map((result) => ('quote' in result ? result.quote.bidAdj : expect.fail(result.error.error)));
}

test('a pool that is live through published updates alone is not down while an API lives', async () => {
  const live = LiveConfig.parse(OWN);
  const api = await openApi(live);
  await expect.poll(reading, WAIT).toBe(1);
  await publishOwn(200n);
  const follower = openFollower(OWN);
  await captured(follower, LIVE);
  const { rows } = await world.database.query(
    'SELECT pool, basis, sell_price_x64 AS bid, trades_live FROM operator.price_health',
  );
  const bids = await liveBids(api);
  for (const [index, { address }] of world.market.pools.entries()) {
    expect(rows).toContainEqual({ pool: address, basis: 'live', bid: bids[index], trades_live: true });
  }
  // Without Redis, capture knows no published update.
  expect(await statuses(openCapture({ live: OWN }))).toEqual(DOWN);
  await captured(follower, LIVE);
  // Their block is over.
  await world.market.builder.buildBlock();
  await captured(follower, DOWN);
});

test('without an API capture reads the sources itself, until one is back', async () => {
  const first = await openApi();
  const follower = openFollower();
  await updateAll(world.market, () => 200n);
  await captured(follower, LIVE);
  await untilConnections(1);
  // Another API takes over at once: capture does not read meanwhile.
  await openApi();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, connections());
  }, 10);
  await Promise.all([first.stop(), untilConnections(0)]);
  await untilConnections(1);
  await captured(follower, LIVE);
  clearInterval(watch);
  expect(most).toBe(1);
  // No API is left.
  apis.shift();
  await Promise.all([apis.pop()?.stop(), untilConnections(0)]);
  await untilConnections(1);
  await world.market.builder.buildBlock();
  await captured(follower, DOWN);
  await updateAll(world.market, () => 201n);
  await captured(follower, LIVE);
  // It reads no published update: those take many calls.
  expect(await reading()).toBe(0);
  await openApi();
  await expect.poll(reading, WAIT).toBe(1);
  await untilConnections(1);
  await captured(follower, LIVE);
});

test('capture goes on while Redis is dead, and follows when it is back', async () => {
  const api = await openApi();
  const follower = openFollower();
  await redis.kill();
  await untilConnections(2);
  await updateAll(world.market, () => 200n);
  await captured(follower, LIVE);
  await redis.restart();
  await expect.poll(reading, WAIT).toBe(1);
  await untilConnections(1);
  await captured(follower, LIVE);
  await world.market.builder.buildBlock();
  await captured(follower, DOWN);
  await publishOwn(201n);
  await captured(follower, LIVE);
  await redis.kill();
  // Capture does not read published updates, and the API keeps them.
  await captured(follower, DOWN);
  await redis.restart();
  await captured(follower, LIVE);
  await liveBids(api);
});

test('words of another chain, of a wrong block and malformed ones are not taken', async () => {
  const api = await openApi();
  const follower = openFollower();
  const sent: (readonly [channel: string, text: string])[] = [];
  const listener = new Redis(redis.port);
  listener.on('pmessage', (_, channel: string, text: string) => sent.push([channel, text]));
  await listener.psubscribe('*:words');
  await updateAll(world.market, () => 200n);
  await captured(follower, LIVE);
  listener.disconnect();
  const [channel = '', text = ''] = sent.at(-1) ?? [];
  const lease = channel.replace(/words$/, 'source-reader');
  await api.stop();
  apis = [];
  await captured(follower, LIVE); // By itself.
  world.market.builder.pause();
  await withAdmin(async (admin) => {
    // Someone holds the sources who sends what follows.
    await admin.set(lease, 'someone', 'PX', 60_000);
    await untilConnections(0);
    const { number } = world.market.builder.block();
    const send = async (
      to: string,
      { ageMs = 0, ...change }: { ageMs?: number; blockNumber?: string },
      raw?: string,
    ) => {
      const { id, blocks } = JSON.parse(text) as SentWords;
      const changed = blocks.map((block) => ({
        ...block,
        ...change,
        sources: block.sources.map((each) => ({ ...each, parts: each.parts.map((part) => ({ ...part, ageMs })) })),
      }));
      await admin.publish(to, raw ?? JSON.stringify({ id, blocks: changed }));
      return statuses(follower);
    };
    await expect.poll(() => statuses(follower), WAIT).toEqual(DOWN); // The words became too old.
    const other = channel.replace(`-${chain.chainId}-`, '-31338-');
    expect(other).not.toBe(channel);
    expect(await send(other, {})).toEqual(DOWN);
    expect(await send(channel, { blockNumber: String(number - 1n) })).toEqual(DOWN);
    expect(await send(channel, { blockNumber: String(number + 2n) })).toEqual(DOWN);
    expect(await send(channel, { ageMs: 86_400_000 })).toEqual(DOWN);
    for (const raw of ['', '{', 'null', text.slice(0, -9)]) expect(await send(channel, {}, raw)).toEqual(DOWN);
    // Redis may hand them out after capture has begun to read.
    await expect.poll(() => send(channel, {}), WAIT).toEqual(LIVE);
    await admin.del(lease);
  });
  world.market.builder.resume();
  await untilConnections(1);
  await captured(follower, LIVE);
});
