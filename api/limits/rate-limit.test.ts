import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { QuotesConfig } from '../../config/quotes-schema.ts';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { everyRoute } from '../../test/harness/every-route.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../test/harness/redis.ts';
import { quotedChains } from '../../test/quotes/quoted-chains.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { createApp } from '../app.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { quotesResource } from '../quotes/quotes.ts';

const EVM = '/public/v1/evm';
const POOL = `0x${'77'.repeat(20)}`;
const chain = ChainConfig.parse({
  chainId: 1,
  name: 'one',
  rpcUrls: ['http://127.0.0.1:1'],
  blockTimeMs: 1_000,
  deployments: [],
});
const logger = createLogger('test', 'silent');

const database = startedWorld(createRedisDatabase);
let redis: Redis;
const servers: RunningServer[] = [];

beforeAll(async () => {
  redis = new Redis(database.url);
  // Until it is connected, each process counts for itself.
  await redis.ping();
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop(1_000)));
  redis.disconnect();
});

/** Every endpoint, those of bid and ask over a chain without pools. Returns the base URL. */
async function startApi(limits: LimitsConfig, { trustedProxies = 1, prefix = 'test' } = {}): Promise<string> {
  const chains = new Map([[chain.chainId, chain]]);
  const directory = fixedDirectory([]);
  const quoted = quotedChains([chain], directory, { quotes: QuotesConfig.parse({}) });
  const others = everyRoute(chains).filter(({ route }) => !quotesResource.routes.includes(route));
  const app = createApp([...others, ...bindRoutes(quotesResource, { chains: quoted, directory })], {
    verifyKey: async (key) => (key.startsWith('good') ? { keyId: key, holder: key } : null),
    rateLimit: { limits, redis, prefix, trustedProxies },
    metrics: createMetrics('test'),
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0);
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

/** An IPv6 network that no other test counts under. */
const newClient = (): string =>
  `2001:${randomBytes(6)
    .toString('hex')
    .replace(/(.{4})(?=.)/g, '$1:')}::1`;

const ask = (url: string, client: string, init: RequestInit & { key?: string } = {}) => {
  const authorization = init.key === undefined ? {} : { Authorization: `Bearer ${init.key}` };
  return fetch(url, { ...init, headers: { 'X-Forwarded-For': client, ...authorization } });
};

const quota = (requests: number) => ({ requests, windowSecs: 60 });
const left = (response: Response): number => Number(/;r=(\d+)/.exec(response.headers.get('RateLimit') ?? '')?.[1]);

test.each([
  ['GET', '/public/v1/chains', 'listing'],
  ['HEAD', '/public/v1/chains', 'listing'],
  ['GET', `${EVM}/metadata`, 'listing'],
  ['GET', `${EVM}/1/metadata`, 'listing'],
  ['GET', `${EVM}/1/${POOL}/bid_ask`, 'quote'],
  ['POST', `${EVM}/1/bid_ask/batch`, 'batch'],
  ['POST', `${EVM}/1/route`, 'route'],
  ['GET', `${EVM}/1/${POOL}/ohlcv`, 'history'],
  ['GET', '/public/v1/udf/history', 'history'],
])('%s %s counts as %s, whatever it is answered', async (method, path, limitClass) => {
  const { anonymous } = LimitsConfig.parse({})[limitClass as 'listing'];
  const response = await ask(`${await startApi(LimitsConfig.parse({}))}${path}`, newClient(), { method });
  expect(response.headers.get('RateLimit-Policy')).toBe(`"${limitClass}";q=${anonymous.requests};w=10`);
  expect(left(response)).toBe(anonymous.requests - 1);
});

test('quote updates count as pamm, by key', async () => {
  const base = await startApi(LimitsConfig.parse({}));
  const response = await ask(`${base}${EVM}/1/pamm-quote`, newClient(), { method: 'POST', key: 'good' });
  expect(response.headers.get('RateLimit-Policy')).toBe('"pamm";q=2000;w=10');
});

test('without settings a batch has less than a single quote, and a key more of quotes, batches and routes', () => {
  const limits = LimitsConfig.parse({});
  expect(limits.batch.anonymous.requests).toBeLessThan(limits.quote.anonymous.requests);
  for (const { anonymous, keyed } of [limits.quote, limits.batch, limits.route]) {
    expect(keyed.requests / keyed.windowSecs).toBeGreaterThan(anonymous.requests / anonymous.windowSecs);
  }
});

test('the data feed, which reports all else with status 200, has 401 and 429', async () => {
  const base = await startApi(LimitsConfig.parse({ history: { anonymous: quota(2), keyed: quota(9) } }));
  const [client, url] = [newClient(), `${base}/public/v1/udf/history?symbol=none`];
  const answers = [
    await ask(url, client),
    await ask(url, client, { key: 'bad' }),
    await ask(url, client),
    await ask(url, client),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 429]);
  expect(await answers[0]?.json()).toMatchObject({ s: 'error' });
  expect(await answers[1]?.json()).toEqual({ error: 'Invalid API key' });
  expect(await answers[3]?.json()).toEqual({ error: 'Too many requests' });
});

test('a batch counts once, however many pools it names', async () => {
  const base = await startApi(LimitsConfig.parse({ batch: { anonymous: quota(5), keyed: quota(9) } }));
  const client = newClient();
  const pools = Array.from({ length: 100 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);
  const counted: number[] = [];
  for (let i = 0; i < 3; i++) {
    const body = JSON.stringify({ pools });
    const response = await ask(`${base}${EVM}/1/bid_ask/batch`, client, { method: 'POST', body });
    expect(((await response.json()) as { results: unknown[] }).results.length).toBe(100);
    counted.push(left(response));
  }
  expect(counted).toEqual([4, 3, 2]);
});

describe('who is counted', () => {
  const limits = LimitsConfig.parse({ quote: { anonymous: quota(2), keyed: quota(4) } });
  const statuses = async (urls: readonly string[], client: (n: number) => string, key?: (n: number) => string) => {
    const seen: number[] = [];
    for (const [n, url] of urls.entries()) {
      const response = await ask(url, client(n), key === undefined ? {} : { key: key(n) });
      seen.push(response.status);
    }
    return seen;
  };
  const times = (count: number, base: string) => Array<string>(count).fill(`${base}${EVM}/1/${POOL}/bid_ask`);

  test('a client that used its quota up continues with a key, and each key has a quota of its own', async () => {
    const base = await startApi(limits);
    const client = newClient();
    const key = `good-${randomBytes(6).toString('hex')}`;
    expect(await statuses(times(3, base), () => client)).toEqual([404, 404, 429]);
    expect(
      await statuses(
        times(5, base),
        () => client,
        () => key,
      ),
    ).toEqual([404, 404, 404, 404, 429]);
    expect(
      await statuses(
        times(1, base),
        () => client,
        () => `${key}-2`,
      ),
    ).toEqual([404]);
  });

  test('what a client claims to forward does not make it another one', async () => {
    const base = await startApi(limits);
    const client = newClient();
    expect(await statuses(times(3, base), (n) => `6.6.6.${n}, ${client}`)).toEqual([404, 404, 429]);
  });

  test('without trusted proxies the header means nothing', async () => {
    const base = await startApi(limits, { trustedProxies: 0 });
    await redis.flushdb();
    expect(await statuses(times(3, base), newClient)).toEqual([404, 404, 429]);
  });

  test('replicas share one count', async () => {
    const [one, two] = [await startApi(limits), await startApi(limits)];
    const client = newClient();
    const urls = [one, two, one, two].flatMap((base) => times(1, base));
    expect(await statuses(urls, () => client)).toEqual([404, 404, 429, 429]);
  });

  test('of requests that reach four replicas at once each is counted once, and `RateLimit` has what it leaves', async () => {
    const quotas = LimitsConfig.parse({ quote: { anonymous: quota(60), keyed: quota(60) } });
    const bases = await Promise.all(Array.from({ length: 4 }, () => startApi(quotas)));
    const client = newClient();
    const urls = Array.from({ length: 25 }, () => bases.flatMap((base) => times(1, base))).flat();
    const responses = await Promise.all(urls.map((url) => ask(url, client)));
    const passed = responses.filter(({ status }) => status === 404).map(left);
    expect(passed.sort((one, other) => one - other)).toEqual(Array.from({ length: 60 }, (_, n) => n));
    expect(responses.filter(({ status }) => status === 429).map(left)).toEqual(Array(40).fill(0));
  });

  test('deployments on one Redis do not', async () => {
    const [one, other] = [await startApi(limits, { prefix: 'one' }), await startApi(limits, { prefix: 'other' })];
    const client = newClient();
    const key = `good-${randomBytes(6).toString('hex')}`;
    for (const base of [one, other]) {
      expect(await statuses(times(3, base), () => client)).toEqual([404, 404, 429]);
      expect(
        await statuses(
          times(5, base),
          () => client,
          () => key,
        ),
      ).toEqual([404, 404, 404, 404, 429]);
    }
    const names = await redis.keys('*');
    expect(names.filter((name) => name.endsWith(key)).sort()).toEqual([
      `one:limit:quote:key:${key}`,
      `other:limit:quote:key:${key}`,
    ]);
  });

  test('a preflight is not counted, and is answered to who is held up', async () => {
    const base = await startApi(limits);
    const client = newClient();
    const [url = ''] = times(1, base);
    for (let i = 0; i < 5; i++) expect((await ask(url, client, { method: 'OPTIONS' })).status).toBe(204);
    expect(await statuses(times(3, base), () => client)).toEqual([404, 404, 429]);
    expect((await ask(url, client, { method: 'OPTIONS' })).status).toBe(204);
  });
});

test('a refusal says how long to wait, and the window ends when it said', async () => {
  const limits = LimitsConfig.parse({ quote: { anonymous: quota(1), keyed: quota(1) } });
  const url = `${await startApi(limits, { prefix: 'ends' })}${EVM}/1/${POOL}/bid_ask`;
  const client = newClient();
  expect((await ask(url, client)).status).toBe(404);
  const askedAt = performance.now();
  const rejected = await ask(url, client);
  const wait = Number(rejected.headers.get('Retry-After'));
  expect([rejected.status, await rejected.json()]).toEqual([429, { error: 'Too many requests' }]);
  expect(wait).toBeLessThanOrEqual(60);
  expect(rejected.headers.get('RateLimit')).toBe(`"quote";r=0;t=${wait}`);
  const [key = ''] = await redis.keys(`ends:limit:quote:ip:*`);
  const left = await redis.pttl(key);
  expect(left).toBeLessThanOrEqual(wait * 1_000);
  expect(left).toBeGreaterThan((wait - 1) * 1_000 - (performance.now() - askedAt) - 1);
  // Time passes.
  await redis.pexpire(key, 1);
  await vi.waitUntil(async () => (await redis.exists(key)) === 0);
  expect((await ask(url, client)).status).toBe(404);
});

test('a Redis whose clock is set back an hour locks no client out for that hour', async () => {
  const limits = LimitsConfig.parse({ quote: { anonymous: quota(1), keyed: quota(1) } });
  const url = `${await startApi(limits, { prefix: 'back' })}${EVM}/1/${POOL}/bid_ask`;
  const client = newClient();
  expect((await ask(url, client)).status).toBe(404);
  const [key = ''] = await redis.keys('back:limit:quote:ip:*');
  // Redis ends a count at a time of its clock.
  await redis.pexpire(key, 3_600_000);
  const rejected = await ask(url, client);
  expect([rejected.status, Number(rejected.headers.get('Retry-After'))]).toEqual([429, 60]);
  expect(await redis.pttl(key)).toBeLessThanOrEqual(60_000);
});
