import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { everyRoute } from '../../test/harness/every-route.ts';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { createApp } from '../app.ts';
import { bodyBytes } from '../body.ts';

/** Enough that their list is worth compressing. */
const CHAINS = Array.from({ length: 200 }, (_, n) =>
  ChainConfig.parse({
    chainId: n + 1,
    name: `chain-${n + 1}`,
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
  }),
);
const MAX_BODY = 256 * 1024;
const EVM = '/public/v1/evm';

const metrics = createMetrics('test');
let server: RunningServer;
let base: string;

beforeAll(async () => {
  const chains = new Map(CHAINS.map((chain) => [chain.chainId, chain]));
  const app = createApp(everyRoute(chains), {
    verifyKey: async () => null,
    // Limits are off: it never connects.
    rateLimit: {
      limits: LimitsConfig.parse({ enabled: false }),
      redis: new Redis(inject('redisUrl'), { lazyConnect: true }),
      prefix: 'test',
      trustedProxies: 0,
    },
    metrics,
    logger: createLogger('test', 'silent'),
    pages: (it) => it.post('/length', async (c) => c.json({ length: (await bodyBytes(c)).length })),
  });
  server = await startServer(app, '127.0.0.1', 0);
  base = `http://127.0.0.1:${server.port}`;
});

afterAll(() => server.stop(1_000));

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

/** A request that adds nothing of its own to the headers, and the answer as it came. */
async function send(path: string, { method = 'GET', headers = {}, body, agent }: Sent = {}) {
  const request = httpRequest(`${base}${path}`, { method, headers, ...(agent && { agent }) });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const socket = request.socket as Socket;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), socket };
}

describe('caches', () => {
  test('revalidate by tag, any of several, weak or not; HEAD gives the same tag and no body', async () => {
    const { headers } = await send('/public/v1/chains');
    const tag = headers.etag ?? '';
    expect(tag).toMatch(/^W\/"[^"]+"$/);
    for (const value of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const answer = await send('/public/v1/chains', { headers: { 'If-None-Match': value } });
      expect([answer.status, answer.body.length, answer.headers.etag]).toEqual([304, 0, tag]);
      expect(answer.headers['cache-control']).toBe('public, max-age=300');
    }
    expect((await send('/public/v1/chains', { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
    const head = await send('/public/v1/chains', { method: 'HEAD' });
    expect([head.status, head.headers.etag, head.body.length]).toEqual([200, tag, 0]);
  });

  test.each([
    ['an error of a listing', `${EVM}/1/metadata`, { headers: { Authorization: 'Bearer x' } }, 401],
    ['an unknown path', '/public/v1/nothing', {}, 404],
    ['a quote, even one that does not exist', `${EVM}/999/0x${'77'.repeat(20)}/bid_ask`, {}, 404],
    ['an answer to a body', '/length', { method: 'POST', body: 'abc' }, 200],
  ])('keep nothing of %s', async (_name, path, sent, status) => {
    const answer = await send(path, sent);
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store']);
  });

  test('keep the OpenAPI document for a while', async () => {
    const { headers } = await send('/openapi.json');
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect((await send('/openapi.json', { headers: { 'If-None-Match': headers.etag ?? '' } })).status).toBe(304);
  });
});

describe('compression', () => {
  const ask = (path: string, encoding: string) => send(path, { headers: { 'Accept-Encoding': encoding } });

  test('of a long response, when the client accepts it; Vary tells caches that it depends on the request', async () => {
    const plain = await ask('/public/v1/chains', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['content-length']).toBe(String(plain.body.length));
    expect(plain.headers.vary).toBe('Accept-Encoding');
    for (const encoding of ['gzip', 'br, gzip;q=0.5', '*']) {
      const packed = await ask('/public/v1/chains', encoding);
      expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
      expect(gunzipSync(packed.body)).toEqual(plain.body);
      expect(packed.headers.etag).toBe(plain.headers.etag);
    }
    for (const rejected of ['gzip;q=0, deflate;q=0', 'br']) {
      expect((await ask('/public/v1/chains', rejected)).headers['content-encoding']).toBeUndefined();
    }
  });

  test('not of a short one', async () => {
    expect((await ask('/public/v1/nothing', 'gzip')).headers['content-encoding']).toBeUndefined();
  });
});

describe('browsers', () => {
  test('may ask from any origin, with a key and JSON, and remember it for a day', async () => {
    const headers = {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type',
    };
    const answer = await send(`${EVM}/1/route`, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET,HEAD,POST',
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Content-Type.*Last-Event-ID/),
      'access-control-max-age': '86400',
    });
  });

  test('see errors too', async () => {
    const answer = await send('/public/v1/nothing', { headers: { Origin: 'https://example.org' } });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });
});

test.each([
  ['abc-DEF_123=', true],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
  ['a b', false],
  ['a"}', false],
  ['', false],
])('the request id %j of a client is kept: %s', async (id, isKept) => {
  const given = (await send('/public/v1/chains', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
  if (isKept) expect(given).toBe(id);
  else expect(given).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

describe('bodies', () => {
  const post = (body: string, headers: Record<string, string> = {}, agent?: Agent) =>
    send('/length', { method: 'POST', body, headers, ...(agent && { agent }) });
  const chunked = { 'Transfer-Encoding': 'chunked' };

  test.each([
    ['of known length', {}],
    ['of unknown length', chunked],
  ])('%s: as large as allowed, and one byte more', async (_name, headers) => {
    const fits = await post('x'.repeat(MAX_BODY), headers);
    expect(JSON.parse(fits.body.toString())).toEqual({ length: MAX_BODY });
    const large = await post('x'.repeat(MAX_BODY + 1), headers);
    expect([large.status, large.headers.connection]).toEqual([413, 'close']);
    expect(JSON.parse(large.body.toString())).toEqual({ error: `Request body is larger than ${MAX_BODY} bytes` });
  });

  test('that are not read do not end the connection that the next request is on', async () => {
    stopTime();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const rejected = await send(`${EVM}/1/pamm-quote`, { method: 'POST', body: 'x'.repeat(200_000), agent });
    expect([rejected.status, rejected.headers.connection]).toEqual([401, 'keep-alive']);
    let isClosed = false;
    rejected.socket.once('close', () => {
      isClosed = true;
    });
    // What is left of a body is read for half a second, and the connection is cut if that does not end.
    const goesOn = async () => {
      const next = await post('abc', {}, agent);
      expect([next.status, next.socket === rejected.socket]).toEqual([200, true]);
    };
    await goesOn();
    await pass(1_000);
    expect(isClosed).toBe(false);
    await goesOn();
    agent.destroy();
  });

  test('that break off are no defect of ours', async () => {
    for (const headers of [{ 'Content-Length': '10' }, chunked]) {
      const request = httpRequest(`${base}/length`, { method: 'POST', headers });
      request.on('error', () => undefined); // We hang up ourselves.
      request.write('abc');
      await once(request, 'socket');
      await new Promise((resolve) => request.socket?.write('', resolve));
      request.destroy();
    }
    const counted = async () => {
      const { values } = (await metrics.getSingleMetric('http_request_duration_seconds')?.get()) ?? { values: [] };
      return values.filter(({ labels }) => labels.route === '/length' && labels.status === 400 && labels.le === 20);
    };
    await expect.poll(async () => (await counted())[0]?.value).toBe(2);
    expect(await (await fetch(`${base}/public/v1/chains`)).json()).toHaveLength(CHAINS.length);
  });
});
