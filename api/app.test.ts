import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Hono } from 'hono';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LimitsConfig } from '../config/limits-schema.ts';
import { parseChainsFile } from '../config/load-chains.ts';
import { startRedis } from '../local/services/redis.ts';
import { freePort } from '../runtime/free-port.ts';
import { type RunningServer, startServer } from '../runtime/http-server.ts';
import { createLogger } from '../runtime/logger.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { connectFailFast } from '../runtime/redis-connections.ts';
import { everyRoute } from '../test/harness/every-route.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { createRedisDatabase } from '../test/harness/redis.ts';
import { createApp } from './app.ts';

const file = parseChainsFile(
  {
    chains: [8453, 1].map((chainId) => ({
      chainId,
      name: `chain-${chainId}`,
      rpcUrls: ['http://127.0.0.1:1'],
      blockTimeMs: 1000,
      deployments: [],
    })),
  },
  'test',
);
const chains = new Map(file.chains.map((chain) => [chain.chainId, chain]));
const limits = LimitsConfig.parse({
  listing: { anonymous: { requests: 3, windowSecs: 60 }, keyed: { requests: 5, windowSecs: 60 } },
});

/** Routes that fail as real ones might. */
const failing = (app: Hono) => {
  app.get('/defect', () => {
    throw new Error('secret at postgres://user:password@10.0.0.1');
  });
  app.post('/echo', async (c) => c.text(await c.req.text()));
};

function buildApp(redis: Redis) {
  return createApp(everyRoute(chains), {
    verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
    rateLimit: { limits, redis, prefix: 'test', trustedProxies: 1 },
    metrics: createMetrics('test'),
    logger: createLogger('test', 'silent'),
    pages: failing,
  });
}

const redisDatabase = startedWorld(createRedisDatabase);
let redis: Redis;
let server: RunningServer;
let base: string;
let clients = 0;

/** Each caller is a client of its own unless it says otherwise. */
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${base}${path}`, { headers: { 'X-Forwarded-For': `10.1.0.${clients++}`, ...headers } });

beforeAll(async () => {
  redis = new Redis(redisDatabase.url);
  server = await startServer(buildApp(redis), '127.0.0.1', 0);
  base = `http://127.0.0.1:${server.port}`;
});

afterAll(async () => {
  await server.stop(1_000);
  redis.disconnect();
});

test('chains are a bare array in the order of the configuration', async () => {
  const response = await get('/public/v1/chains');
  expect(await response.json()).toEqual([
    { chainId: 8453, name: 'chain-8453' },
    { chainId: 1, name: 'chain-1' },
  ]);
});

describe('keys', () => {
  test.each(['Bearer bad', 'Bearer ', 'bad', 'Basic Zzpn', ''])('%j is refused on a public endpoint', async (value) => {
    const response = await get('/public/v1/chains', { Authorization: value });
    expect([response.status, await response.json()]).toEqual([401, { error: 'Invalid API key' }]);
  });

  test('a valid one is accepted', async () => {
    expect((await get('/public/v1/chains', { Authorization: 'Bearer good' })).status).toBe(200);
  });

  test('a bad one is reported before anything else that is wrong', async () => {
    expect((await get('/public/v1/evm/x/metadata', { Authorization: 'Bearer bad' })).status).toBe(401);
  });
});

describe('limits', () => {
  test('count down, then 429 with the wait in standard fields', async () => {
    const as = { 'X-Forwarded-For': '10.9.9.9' };
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await get('/public/v1/chains', as));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429]);
    expect(answers[0]?.headers.get('RateLimit')).toMatch(/^"listing";r=2;t=\d+$/);
    expect(answers[0]?.headers.get('RateLimit-Policy')).toBe('"listing";q=3;w=60');
    const rejected = answers[3];
    expect(Number(rejected?.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(rejected?.headers.get('RateLimit')).toMatch(/r=0/);
    expect(await rejected?.json()).toEqual({ error: 'Too many requests' });
    expect((await get('/public/v1/chains')).status).toBe(200);
  });

  test('a key has a count of its own, wherever it comes from', async () => {
    const statuses = [];
    await redis.flushdb();
    for (let i = 0; i < 6; i++) {
      statuses.push((await get('/public/v1/chains', { Authorization: 'Bearer good' })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('are counted in memory while Redis is unreachable', async () => {
    const unreachable = new Redis({ port: await freePort(), enableOfflineQueue: false, retryStrategy: () => 50 });
    unreachable.on('error', () => undefined); // It is unreachable on purpose.
    const alone = await startServer(buildApp(unreachable), '127.0.0.1', 0);
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await fetch(`http://127.0.0.1:${alone.port}/public/v1/chains`)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    await alone.stop(1_000);
    unreachable.disconnect();
  });
});

test('a Redis that hangs does not hold a request up', async () => {
  const hanging = await startRedis();
  const client = connectFailFast(hanging.url, createLogger('test', 'silent'), { commandTimeout: 200 });
  await once(client, 'ready');
  const alone = await startServer(buildApp(client), '127.0.0.1', 0);
  process.kill(hanging.pid(), 'SIGSTOP');
  const startedAt = Date.now();
  expect((await fetch(`http://127.0.0.1:${alone.port}/public/v1/chains`)).status).toBe(200);
  // Without a limit of its own the count would wait for ever.
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  process.kill(hanging.pid(), 'SIGCONT');
  await alone.stop(1_000);
  client.disconnect();
  await hanging.stop();
});

describe('methods', () => {
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${base}${path}`, { method, headers: { 'X-Forwarded-For': `10.2.0.${clients++}`, ...headers } });

  test.each([
    ['POST', '/public/v1/chains', 'GET, HEAD'],
    ['DELETE', '/public/v1/chains', 'GET, HEAD'],
    ['PROPFIND', '/public/v1/chains', 'GET, HEAD'],
    ['GET', '/echo', 'POST'],
    ['PUT', '/echo', 'POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['PATCH', '/docs', 'GET, HEAD'],
  ])('%s %s is 405 and told what is allowed', async (method, path, allow) => {
    const response = await send(method, path);
    expect([response.status, response.headers.get('Allow')]).toEqual([405, allow]);
    expect(await response.json()).toEqual({ error: 'Method not allowed' });
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });

  test('HEAD is answered as GET, and refused where GET is', async () => {
    const head = await send('HEAD', '/public/v1/chains');
    expect([head.status, await head.text()]).toEqual([200, '']);
    const rejected = await send('HEAD', '/echo');
    expect([rejected.status, rejected.headers.get('Allow'), await rejected.text()]).toEqual([405, 'POST', '']);
  });

  test('OPTIONS is a preflight whatever the path takes', async () => {
    for (const path of ['/public/v1/chains', '/echo', '/nothing']) {
      expect((await send('OPTIONS', path)).status).toBe(204);
    }
  });

  test.each(['GET', 'POST', 'PUT'])('%s of an unknown path stays 404', async (method) => {
    const response = await send(method, '/public/v1/nothing');
    expect([response.status, response.headers.get('Allow')]).toEqual([404, null]);
  });

  test('a bad key and a used-up quota are reported first', async () => {
    expect((await send('POST', '/public/v1/chains', { Authorization: 'Bearer bad' })).status).toBe(401);
    expect((await send('GET', '/public/v1/evm/1/pamm-quote')).status).toBe(401);
    const as = { 'X-Forwarded-For': '10.9.9.8' };
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await send('POST', '/public/v1/chains', as)).status);
    expect(statuses).toEqual([405, 405, 405, 429]);
  });
});

describe('a path that would be resolved into another', () => {
  /** The path as it is: `fetch` would resolve it itself. */
  async function getRaw(path: string, method = 'GET'): Promise<{ status?: number; body: string; name: unknown }> {
    const request = httpRequest({ port: server.port, path, method });
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode ?? 0, body, name: response.headers['x-request-id'] };
  }

  test.each([
    '/public/../openapi.json',
    '/public/%2e%2e/openapi.json',
    '/public/%2E./openapi.json',
    '/public/.%2e/openapi.json?x=1',
    '/assets/../openapi.json',
    '/assets/../../openapi.json#x',
    '/./openapi.json',
    '/%2e/openapi.json',
    '/openapi.json/.',
    '/public/v1/evm/1/../../chains',
    '/public/v1/chains/x/..',
    'http://x/public/../openapi.json',
  ])('%s is 404, as any path that is not known', async (path) => {
    expect(await getRaw(path)).toEqual({ status: 404, body: '{"error":"Not found"}', name: expect.any(String) });
  });

  test.each(['/public\\..\\openapi.json', '/\\openapi.json', 'http://x\\openapi.json'])('%s is 400', async (path) => {
    expect(await getRaw(path)).toMatchObject({ status: 400, body: '{"error":"Bad Request"}' });
  });

  test.each(['/openapi.json?x=/../y', '/openapi.json?/..', '/openapi.json'])('%s is not one', async (path) => {
    expect((await getRaw(path)).status).toBe(200);
  });

  test.each(['/public%2f..%2fopenapi.json', '/public/.../openapi.json', '/public/..;/openapi.json', '//openapi.json'])(
    '%s leads nowhere',
    async (path) => {
      expect((await getRaw(path)).status).toBe(404);
    },
  );
});

describe('response headers', () => {
  test('an unchanged listing is not sent again', async () => {
    const first = await get('/public/v1/chains');
    const tag = first.headers.get('ETag') ?? '';
    expect(first.headers.get('Cache-Control')).toBe('public, max-age=300');
    expect((await get('/public/v1/chains', { 'If-None-Match': tag })).status).toBe(304);
  });

  test('an error is never kept by a cache', async () => {
    const response = await get('/public/v1/chains', { Authorization: 'Bearer bad' });
    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });

  test('a defect shows nothing of itself', async () => {
    const response = await get('/defect');
    expect([response.status, await response.json()]).toEqual([500, { error: 'Internal server error' }]);
  });

  test('a large body is refused', async () => {
    const response = await fetch(`${base}/echo`, { method: 'POST', body: 'x'.repeat(300_000) });
    expect(response.status).toBe(413);
  });

  test('any origin may read, and sees the fields that matter', async () => {
    const response = await get('/public/v1/chains', { Origin: 'https://example.org' });
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('RateLimit');
    expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('an unknown path is 404 in JSON', async () => {
    const response = await get('/public/v2/chains');
    expect([response.status, await response.json()]).toEqual([404, { error: 'Not found' }]);
  });

  test('the documents and their page are served', async () => {
    const document = (await (await get('/openapi.json')).json()) as { openapi: string; paths: object };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toContain('/public/v1/chains');
    const streams = (await (await get('/asyncapi.json')).json()) as { asyncapi: string };
    expect(streams.asyncapi).toBe('3.0.0');
    expect((await get('/docs')).headers.get('content-type')).toContain('text/html');
  });
});
