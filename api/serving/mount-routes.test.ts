import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { createApp } from '../app.ts';
import { type ApiRoute, type BoundRoute, routingPath } from '../declaration/api-route.ts';
import { ReadyBody, sendCached } from '../http/ready-body.ts';

const LONG = 'x'.repeat(10_000);
const plain = {
  method: 'get',
  limit: 'quote',
  key: 'optional',
  tag: 'Quotes',
  summary: '',
  description: '',
  answer: { description: '', schema: z.string(), example: '' },
} as const;

/** An endpoint that answers with a long text, at a path of its own. */
const endpoint = (name: string, change: Partial<ApiRoute> = {}): BoundRoute => ({
  route: { ...plain, operationId: name, path: `/public/v1/{chain_id}/${name}`, ...change } as ApiRoute,
  handler: (c) => c.text(LONG),
});

/** Asks the app with these endpoints; each request is of the same client. */
function appOf(...routes: BoundRoute[]) {
  const app = createApp(routes, {
    verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
    rateLimit: {
      limits: LimitsConfig.parse({}),
      // Never connects: requests are counted in memory.
      redis: new Redis(inject('redisUrl'), { lazyConnect: true, enableOfflineQueue: false }),
      prefix: 'test',
      trustedProxies: 0,
    },
    metrics: createMetrics('test'),
    logger: createLogger('test', 'silent'),
  });
  const connection = { incoming: { socket: { remoteAddress: '10.0.0.1' } } };
  return async (name: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.request(`/public/v1/1/${name}`, { method, headers }, connection);
}

const GZIP = { 'Accept-Encoding': 'gzip' };
const seen = ({ status, headers }: Response) =>
  [status, ...['Content-Encoding', 'Vary', 'Cache-Control', 'ETag'].map((name) => headers.get(name))] as const;

test('an endpoint is compressed as it declares, and kept by no cache', async () => {
  const ask = appOf(endpoint('bare'), endpoint('packed', { compress: true }));
  expect(seen(await ask('bare', GZIP))).toEqual([200, null, null, 'no-store', null]);
  expect(seen(await ask('packed', GZIP))).toEqual([200, 'gzip', 'Accept-Encoding', 'no-store', null]);
  expect(seen(await ask('packed'))).toEqual([200, null, 'Accept-Encoding', 'no-store', null]);
});

test('a response that its handler lets caches keep has a tag, the same when it is compressed', async () => {
  const body = new ReadyBody(JSON.stringify(LONG));
  const ask = appOf({ ...endpoint('tagged'), handler: (c) => sendCached(c, body, 7) });
  const tag = expect.stringMatching(/^W\/"[\w-]{27}"$/);
  const headers = ['Accept-Encoding', 'public, max-age=7', tag];
  expect(seen(await ask('tagged'))).toEqual([200, null, ...headers]);
  expect(seen(await ask('tagged', GZIP))).toEqual([200, 'gzip', ...headers]);
  expect(seen(await ask('tagged', { 'If-None-Match': body.tag }))).toEqual([304, null, ...headers]);
});

test('a key is required where that is declared; its absence is reported before an exhausted quota', async () => {
  const ask = appOf(endpoint('closed', { key: 'required', limit: 'pamm' }), endpoint('open'));
  const rejected = await ask('closed');
  expect([rejected.status, rejected.headers.get('RateLimit-Policy')]).toEqual([401, null]);
  const allowed = await ask('closed', { Authorization: 'Bearer good' });
  expect([allowed.status, allowed.headers.get('RateLimit-Policy')]).toEqual([200, '"pamm";q=2000;w=10']);
  expect((await ask('open')).status).toBe(200);
});

test('endpoints of one class share a count, for every method of their paths', async () => {
  const ask = appOf(endpoint('one'), endpoint('two'), endpoint('other', { limit: 'route' }));
  const left = async (name: string, method = 'GET') => {
    const { headers, status } = await ask(name, {}, method);
    return [status, Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])];
  };
  expect([await left('one'), await left('two'), await left('one', 'POST'), await left('other')]).toEqual([
    [200, 299],
    [200, 298],
    [405, 297],
    [200, 99],
  ]);
});

test('of a stream the client has the first part before there is a second', async () => {
  let end = (): void => undefined;
  const handler = (c: Context) => {
    const parts = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('first'));
        end = () => controller.close();
      },
    });
    return c.body(parts, 200, { 'Content-Type': 'text/event-stream' });
  };
  const stream = endpoint('stream', { streams: true });
  const response = await appOf({ ...stream, handler })('stream', GZIP);
  expect(seen(response)).toEqual([200, null, null, 'no-store', null]);
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
  end();
  expect((await reader?.read())?.done).toBe(true);
});

test('an endpoint without a limit does not compile', () => {
  const { limit: _, ...unlimited } = { ...plain, operationId: 'x', path: '/public/v1/x' } as const;
  // @ts-expect-error: no limit class
  const route: ApiRoute = unlimited;
  expect(routingPath(route)).toBe('/public/v1/x');
});
