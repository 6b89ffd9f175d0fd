import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { passUntil, stopTime } from '../../test/harness/stopped-time.ts';
import { createRestClient, type RestClientOptions } from '../rest.ts';
import { responseError } from './errors.ts';

type Answer = { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> };

/** Sends the answers in turn, the last one again; none: leaves a request without one. */
let server: Server;
let url: string;
let answers: Answer[];
let requests: (IncomingMessage & { body?: string })[];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(Object.assign(request, { body }));
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    if (answer) response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    if (answer) response.end(answer.body ?? '{"error":"Wrong"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  requests = [];
});

const client = (options: RestClientOptions = {}) => createRestClient(url, options);
const QUOTE = { chainId: 1, poolAddress: '0x12' };

test('names of requests are in camel case, and go where the document has them', async () => {
  answers = [{ status: 200, body: '{}' }];
  await client({ apiKey: 'a-key' }).getBidAsk({ ...QUOTE, depth: false });
  await client().listPools({ chainId: 2, contractVersion: 'v1', include24h: true });
  await client().findRoute({ chainId: 3, tokenIn: '0xa', tokenOut: '0xb', amountIn: '7', poolAddress: '0xc' });
  expect(requests.map(({ method, url: path, body }) => [method, path, body])).toEqual([
    ['GET', '/public/v1/evm/1/0x12/bid_ask?depth=false', ''],
    ['GET', '/public/v1/evm/2/metadata?include24h=true&contract_version=v1', ''],
    ['POST', '/public/v1/evm/3/route', '{"tokenIn":"0xa","tokenOut":"0xb","amountIn":"7","poolAddress":"0xc"}'],
  ]);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-key', undefined, undefined]);
});

test('a batch of JSON-RPC calls is a list, and notifications alone get nothing', async () => {
  answers = [{ status: 200, body: '[]' }, { status: 204 }];
  const call = { jsonrpc: '2.0', method: 'pamm_status' } as const;
  const batch = Object.assign([{ ...call, id: 1 }, call], { chainId: 1 });
  expect(await client().callTakers(batch)).toEqual([]);
  const nothing = await client().callTakers({ chainId: 1, ...call });
  expectTypeOf(nothing).extract<undefined>().toBeUndefined();
  expect(nothing).toBeUndefined();
  const sent = requests.map(({ url: path, body = '' }) => [path, JSON.parse(body)]);
  expect(sent).toEqual([
    ['/rpc/1', [{ ...call, id: 1 }, call]],
    ['/rpc/1', call],
  ]);
});

test('integers of 64 bits arrive exact', async () => {
  const timestampNs = 2n ** 64n - 1n;
  answers = [{ status: 200, body: `{"accepted":true,"providers":[{"timestampNs":${timestampNs}}]}` }];
  const update = { chainId: 1, tx: '0x', blockNumber: 1, replacementUuid: '00', replacementSeqNumber: 1 };
  expect((await client().submitQuoteUpdate(update)).providers[0]?.timestampNs).toBe(timestampNs);
});

describe('errors', () => {
  test.each([
    [400, 'BadRequestError'],
    [401, 'UnauthorizedError'],
    [404, 'NotFoundError'],
    [413, 'BadRequestError'],
    [418, 'ResponseError'],
    [502, 'ServiceError'],
  ])('%i is a %s with what the response says', async (status, name) => {
    answers = [{ status, headers: { 'X-Request-Id': 'r1' } }];
    const error = { name, status, message: 'Wrong', requestId: 'r1', code: null, retryAfterMs: null };
    await expect(client().getBidAsk(QUOTE)).rejects.toMatchObject(error);
    expect(requests.length).toBe(1);
  });

  test('have the code of a route that does not exist, and the text of a malformed query', async () => {
    answers = [
      { status: 422, body: '{"code":"no_route","error":"No route"}' },
      { status: 400, body: 'Failed to parse' },
    ];
    const route = { chainId: 1, tokenIn: '0xa', tokenOut: '0xb' };
    await expect(client().findRoute(route)).rejects.toMatchObject({ name: 'UnprocessableError', code: 'no_route' });
    await expect(client().listChains()).rejects.toMatchObject({ message: 'Failed to parse' });
  });

  test('have the message of JSON-RPC', async () => {
    answers = [
      { status: 404, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"Unknown chainId: 9"}}' },
    ];
    const call = client().callTakers({ chainId: 9, jsonrpc: '2.0', id: 1, method: 'pamm_status' });
    await expect(call).rejects.toMatchObject({ name: 'NotFoundError', message: 'Unknown chainId: 9', code: null });
  });

  test('of proxies have no page as their message', async () => {
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Retry-After': '60' };
    answers = [{ status: 503, body: '<html><h1>503 Service Unavailable</h1></html>', headers }];
    await expect(client().getBidAsk(QUOTE)).rejects.toMatchObject({
      message: 'The service returned status 503',
      retryAfterMs: 60_000,
    });
  });

  test('of connections and of malformed responses are no responses', async () => {
    answers = [{ status: 200, body: '<html>' }];
    await expect(client().listChains()).rejects.toMatchObject({
      name: 'ConnectionError',
      cause: expect.any(SyntaxError),
    });
    const nowhere = createRestClient('http://127.0.0.1:1');
    await expect(nowhere.listChains()).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});

describe('retries', () => {
  test('follow statuses of which the contract says so, after the time that the response gives', async () => {
    answers = [
      { status: 503 },
      { status: 429, headers: { 'Retry-After': '1' } },
      { status: 200, body: '{"bidAdj":"7"}' },
    ];
    stopTime();
    const call = client().getBidAsk(QUOTE);
    await passUntil(() => requests.length === 2, 1_000);
    const rejectedAt = performance.now();
    await passUntil(() => requests.length === 3, 3_000);
    expect(performance.now() - rejectedAt).toBeGreaterThan(1_100);
    expect(await call).toEqual({ bidAdj: '7' });
  });

  test('follow a date as a proxy may write it', () => {
    const waitOf = (text: string) =>
      responseError(new Response(null, { status: 503, headers: { 'Retry-After': text } }), null).retryAfterMs;
    const inAMinute = waitOf(new Date(Date.now() + 60_000).toUTCString());
    expect(inAMinute).toBeGreaterThan(50_000);
    expect(inAMinute).toBeLessThanOrEqual(60_000);
    expect(['Wed, 21 Oct 2015 07:28:00 GMT', '7', 'soon', ''].map(waitOf)).toEqual([0, 7_000, null, null]);
  });

  test('end before the deadline would pass, with the last failure', async () => {
    answers = [{ status: 429, headers: { 'Retry-After': '60' } }];
    const call = client().getBidAsk(QUOTE, { deadlineMs: 30_000 });
    await expect(call).rejects.toMatchObject({ name: 'RateLimitError', retryAfterMs: 60_000 });
    expect(requests.length).toBe(1);
  });

  test.each([
    ['a quote update that is rejected for good', 503, 1],
    ['a quote update of a service that failed', 500, 2],
  ])('of %s: %i is sent %i times', async (_, status, count) => {
    answers = [{ status }, { status: 200, body: '{"accepted":true,"providers":[]}' }];
    const update = { chainId: 1, tx: '0x', blockNumber: 1, replacementUuid: '00', replacementSeqNumber: 2n ** 63n };
    await client()
      .submitQuoteUpdate(update)
      .catch(() => undefined);
    expect(requests.length).toBe(count);
    expect(requests[0]?.body).toContain(`"replacementSeqNumber":${2n ** 63n}`);
  });
});

test.each([2 ** 31, Number.POSITIVE_INFINITY])(
  'a call with a deadline of %d ms waits for its answer',
  async (deadlineMs) => {
    answers = [{ status: 503 }, { status: 200, body: '{"bidAdj":"7"}' }];
    expect(await client({ deadlineMs }).getBidAsk(QUOTE)).toEqual({ bidAdj: '7' });
  },
);

describe('a call that gets no answer', () => {
  test('ends at its deadline', async () => {
    answers = [];
    await expect(client({ deadlineMs: 30 }).listChains()).rejects.toMatchObject({
      name: 'DeadlineError',
      message: 'listChains took longer than 30 ms',
    });
  });

  test('ends with the reason of its signal, at once and while it waits for a retry', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    const reason = new Error('stop');
    await expect(client().listChains({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests.length).toBe(0);
    answers = [{ status: 429, headers: { 'Retry-After': '20' } }];
    const stop = new AbortController();
    const call = client().listChains({}, { signal: stop.signal });
    const isWaiting = () => timers.mock.calls.some(([, ms = 0]) => ms >= 20_000 && ms < 30_000);
    await vi.waitUntil(isWaiting);
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});
