import fc from 'fast-check';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { evenBins } from '../../devnet/pools.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { openWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../harness/seed-pools.ts';
import { CHAIN_A, openListing } from '../metadata/listing-fixture.ts';
import { type Answer, anyHeaders, anyMethod, anyTarget, comparable, EVM, type Sent, send } from './front-requests.ts';
import { type Api, serveTwice } from './fronted-app.ts';
import { makePool, startQuoteWorld } from './quote-world.ts';
import { servedPool } from './served-pool.ts';

/**
 * Answers from the cache in front of the app beside those of the app alone: one app, one set of snapshots, two servers.
 */

const QUOTA = 4;
const CACHED_SERVES_MS = 30_000;

const table = new PoolTable();
const requested = new RequestedPools({ warmMs: 60_000, now: () => 0 });

const world = openWorld(async (ends) => {
  const onChain = await startQuoteWorld(CHAIN_A);
  ends.defer(onChain.stop);
  const listing = await openListing();
  ends.defer(listing.close);
  const redisDatabase = await createRedisDatabase();
  ends.defer(redisDatabase.drop);
  const redis = new Redis(redisDatabase.url);
  ends.defer(() => redis.disconnect());
  const { chain, deployment } = onChain;
  const spec = { pair: await onChain.pair(6, 18), price: 0.5 };
  const pools = [
    await makePool(onChain, { ...spec, bins: evenBins(-2, 2, 100) }),
    await makePool(onChain, { ...spec, bins: evenBins(-30, 30, 100) }),
  ];
  for (const { address } of pools) table.put(await servedPool(chain, deployment, address));
  const small = table.find(CHAIN_A, pools[0]?.address ?? '0x') as ServedPool;
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const listed = Array.from({ length: 20 }, (_, n) => ({
    pool: { chainId: CHAIN_A, address: seedAddress(0x1000 + n) },
  }));
  await seedPools(listing.db, listed);
  await listing.refresh();
  const serve = async (requests: number): Promise<Api> => {
    const { servers, api } = await serveTwice({ chain, listing, redis, table, requested }, requests);
    for (const server of servers) ends.defer(() => server.stop(1_000));
    return api;
  };
  return { chain, listing, pools, small, serve, api: await serve(100_000) };
});

const answerFrom = (from: Answer) => Buffer.from(from.body, 'base64').toString();

let cached = 0;
/** Counts who is answered without the app. */
async function sendCounted(sent: Sent): Promise<Answer> {
  const before = world.api.passedOn();
  const answer = await send(world.api.fronted, sent);
  if (world.api.passedOn() === before) cached += 1;
  return answer;
}

/** A block may come between two requests: then all are sent again. */
async function sendToBoth(sent: Sent): Promise<readonly Answer[]> {
  for (let attempt = 0; ; attempt += 1) {
    const answers = [await sendCounted(sent), await sendCounted(sent), await send(world.api.bare, sent)];
    const blocks = new Set(answers.map(({ headers }) => headers['x-block-hash']));
    if (blocks.size === 1 || attempt > 5) return answers;
  }
}

const target = anyTarget((n) => world.pools[n]?.address ?? '');
const change = fc.constantFrom('block', 'delist', 'publish');

async function apply(what: 'block' | 'delist' | 'publish'): Promise<void> {
  if (what === 'block') await world.chain.client.mine({ blocks: 1 });
  if (what === 'publish')
    await world.listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
  if (what !== 'delist') return;
  if (table.find(CHAIN_A, world.small.address)) table.remove(world.small, 'delisted');
  else table.put(world.small);
}

test('property: a request gets the same from the cache in front of the app as from the app', async () => {
  let sentSoFar = 0;
  const cachedBefore = cached;
  const tag = (await send(world.api.bare, { target: `${EVM}/metadata?minTvlFiat=0&count=5` })).headers.etag ?? '';
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof({ weight: 9, arbitrary: fc.record({ target, method: anyMethod, headers: anyHeaders }) }, change),
        { maxLength: 8 },
      ),
      async (steps) => {
        for (const step of steps) {
          if (typeof step === 'string') await apply(step);
          else {
            const match = step.headers['if-none-match'];
            const named = match === undefined ? {} : { 'if-none-match': String(match).replace('TAG', tag) };
            const sent = { ...step, headers: { ...step.headers, ...named } };
            const [first, second, bare] = (await sendToBoth(sent)).map((each) => comparable(each, sent));
            expect(first).toEqual(bare);
            expect(second).toEqual(bare);
            sentSoFar += 2;
          }
        }
      },
    ),
    { numRuns: runs(40) },
  );
  expect(cached - cachedBefore).toBeGreaterThan(sentSoFar / 20);
}, 240_000);

/** Sends until the app is passed by. */
async function whenCached(sent: Sent): Promise<Answer> {
  let answer: Answer | undefined;
  await expect
    .poll(
      async () => {
        const before = world.api.passedOn();
        answer = await send(world.api.fronted, sent);
        return world.api.passedOn() - before;
      },
      { timeout: CACHED_SERVES_MS, interval: 1 },
    )
    .toBe(0);
  return answer as Answer;
}

describe('an answer from the cache', () => {
  beforeEach(() => table.put(world.small));

  const quote = () => `${EVM}/${world.small.address}/bid_ask`;

  test('ends with its block, and with the delisting of its pool', async () => {
    const before = await whenCached({ target: quote() });
    await world.chain.client.mine({ blocks: 1 });
    const blockOf = async () => Number((await send(world.api.fronted, { target: quote() })).headers['x-block-number']);
    await expect.poll(blockOf, { timeout: CACHED_SERVES_MS }).toBeGreaterThan(Number(before.headers['x-block-number']));
    await whenCached({ target: quote() });
    table.remove(world.small, 'delisted');
    expect((await send(world.api.fronted, { target: quote() })).status).toBe(404);
    table.put(world.small);
    expect((await send(world.api.fronted, { target: quote() })).status).toBe(200);
  });

  test('counts its pool as requested, by a client with or without a key', async () => {
    await whenCached({ target: `${quote()}?depth=false`, headers: { authorization: 'Bearer good' } });
    const ofPool = requested.list().filter(({ address, kind }) => address === world.small.address && kind === 'prices');
    expect(ofPool).toEqual([{ address: world.small.address, kind: 'prices', byKey: true }]);
  });

  test('of the listing ends a second after the database was asked, and when it reports another version', async () => {
    const target = `${EVM}/metadata?minTvlFiat=0`;
    const pairOf = async () => JSON.parse(answerFrom(await send(world.api.fronted, { target }))).data[0].pair;
    await whenCached({ target });
    await world.listing.pool.query(
      `UPDATE operator.listed_pool SET record = replace(record, '"TKN/TKN"', '"NEW/NEW"')`,
    );
    await world.listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
    await expect.poll(pairOf, { timeout: CACHED_SERVES_MS }).toBe('NEW/NEW');
  });

  test('counts in the limit once, and the refusal after the last one is the app’s', async () => {
    const strict = await world.serve(QUOTA);
    const answers: Answer[] = [];
    for (let n = 0; n <= QUOTA; n += 1) answers.push(await send(strict.fronted, { target: quote() }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    const left = answers.map(({ headers }) => /r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
    expect(left).toEqual(['3', '2', '1', '0', '0']);
    expect(answers.at(-1)?.headers['retry-after']).toMatch(/^\d+$/);
    // The first one, and the refusal.
    expect(strict.passedOn()).toBeLessThan(QUOTA + 1);
  });
});
