import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { evenBins } from '../../devnet/pools.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { openWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../metadata/listing-fixture.ts';
import { chainConfig, makePool, startQuoteWorld, stillQuotes } from './quote-world.ts';
import { quotedChains } from './quoted-chains.ts';
import { servedPool } from './served-pool.ts';

/**
 * Answers from the cache in front of the app beside those of the app alone: one app, one set of snapshots, two servers.
 */

const QUOTA = 4;
const EVM = `/public/v1/evm/${CHAIN_A}`;
const CACHED_SERVES_MS = 30_000;

const table = new PoolTable();
const requested = new RequestedPools({ warmMs: 60_000, now: () => 0 });

type Api = { readonly fronted: string; readonly bare: string; readonly passedOn: () => number };

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
    const { servers, api } = await serveTwice({ chain, listing, redis }, requests);
    for (const server of servers) ends.defer(() => server.stop(1_000));
    return api;
  };
  return { chain, listing, pools, small, serve, api: await serve(100_000) };
});

type Backends = { readonly chain: DevChain; readonly listing: Listing; readonly redis: Redis };

/** The app behind the cache and without it, for so many requests a minute. */
async function serveTwice(
  { chain, listing, redis }: Backends,
  requests: number,
): Promise<{ servers: readonly RunningServer[]; api: Api }> {
  const served = chainConfig(CHAIN_A, [chain.rpcUrl]);
  const logger = createLogger('test', 'silent');
  const directory = { table: async () => table };
  const quoted = [...quotedChains([served], directory, { quotes: stillQuotes })].map(
    ([chainId, each]) => [chainId, { ...each, requested }] as const,
  );
  const chains = new Map(CHAINS_FILE.chains.map((each) => [each.chainId, each]));
  const quotes = bindRoutes(quotesResource, {
    chains: new Map(quoted),
    directory,
  });
  const quota = { requests, windowSecs: 60 };
  const app = createApp(
    [
      ...quotes,
      ...bindRoutes(metadataResource, {
        chains,
        database: listing.pool,
        statusMaxAgeSecs: 60,
        now: () => performance.now(),
      }),
    ],
    {
      verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
      rateLimit: {
        limits: LimitsConfig.parse({
          quote: { anonymous: quota, keyed: quota },
          listing: { anonymous: quota, keyed: quota },
        }),
        redis,
        prefix: `test-${requests}`,
        trustedProxies: 0,
      },
      metrics: createMetrics('test'),
      logger,
    },
  );
  let passedOn = 0;
  const counting = {
    front: app.front,
    fetch: (request: Request, env?: object) => {
      passedOn += 1;
      return app.fetch(request, env);
    },
  };
  const [fronted, bare] = [
    await startServer(counting, '127.0.0.1', 0),
    await startServer({ fetch: app.fetch }, '127.0.0.1', 0),
  ];
  const url = ({ port }: RunningServer) => `http://127.0.0.1:${port}`;
  const api = { fronted: url(fronted), bare: url(bare), passedOn: () => passedOn };
  return { servers: [fronted, bare], api };
}

interface Sent {
  readonly target: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Nothing is added to the headers but the host. */
async function send(base: string, { target, method = 'GET', headers = {} }: Sent): Promise<Answer> {
  const request = httpRequest(`${base}${target}`, { method, headers, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString('base64') };
}

/** What must be equal: all but names, counts and times. */
function comparable({ status, headers, body }: Answer, sent: Sent) {
  const { ratelimit, 'x-block-age-ms': age, 'x-request-id': name, date, ...others } = headers as Record<string, string>;
  const given = sent.headers?.['x-request-id'];
  return {
    status,
    body,
    headers: others,
    has: [ratelimit?.replace(/[rt]=\d+/g, ''), age?.replace(/^\d+$/, 'milliseconds'), date !== undefined],
    name: name === given ? 'given' : name?.replace(/^[0-9a-f-]{36}$/, 'new'),
  };
}

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

const target = fc
  .record({
    path: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 1 }).map((n) => `${EVM}/POOL${n}/bid_ask`) },
      fc.constantFrom(`${EVM}/${seedAddress(1)}/bid_ask`, `${EVM}/0xZZ/bid_ask`, '/public/v1/evm/9/POOL0/bid_ask'),
      { weight: 4, arbitrary: fc.constantFrom(`${EVM}/metadata`, '/public/v1/evm/metadata') },
      fc.constantFrom('/public/v1/nothing', `${EVM}/./POOL0/bid_ask`, `${EVM}/%50OOL0/bid_ask`),
    ),
    query: fc.constantFrom(
      '',
      '',
      '',
      '?depth=false',
      '?depth=false',
      '?depth=true',
      '?',
      '?depth=maybe',
      '?depth=false&depth=true',
      '?other=1',
      '?count=2',
      '?count=2&offset=2',
      '?offset=2&count=2',
      '?count=%32',
      '?count=-1',
      '?minTvlFiat=0&count=5',
    ),
    isUpper: fc.nat(5).map((n) => n === 0),
  })
  .map(({ path, query, isUpper }) => {
    const named = path.replace(/POOL(\d)/, (_, n) => world.pools[Number(n)]?.address ?? '');
    return `${isUpper && named.endsWith('bid_ask') ? named.replace(/0x\w+/, (hex) => `0x${hex.slice(2).toUpperCase()}`) : named}${query}`;
  });

/** One of the values, or, as often as the weight says, nothing. */
const pick = (weight: number, ...values: readonly string[]) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) });
const headers = fc
  .record({
    'accept-encoding': pick(1, 'gzip', 'identity', 'gzip;q=0', '*', 'br', 'br, gzip'),
    authorization: pick(2, 'Bearer good', 'Bearer good', 'Bearer bad', 'Basic good', 'bearer  good'),
    'x-request-id': pick(2, 'mine', 'not one!', 'x'.repeat(300)),
    'if-none-match': pick(2, '*', '"other"', 'TAG', 'W/"other", TAG'),
    origin: pick(2, 'https://example.org'),
    expect: pick(20, '100-continue'),
    'x-forwarded-for': pick(20, '9.9.9.9'),
  })
  .map(
    (all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as OutgoingHttpHeaders,
  );

const method = fc.oneof({ weight: 8, arbitrary: fc.constant('GET') }, fc.constantFrom('HEAD', 'POST', 'OPTIONS'));
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
      fc.array(fc.oneof({ weight: 9, arbitrary: fc.record({ target, method, headers }) }, change), { maxLength: 8 }),
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
  expect(cached - cachedBefore).toBeGreaterThan(sentSoFar / 10);
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
