import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defiLlamaPrices } from './defillama.ts';
import { tokenKey } from './token-key.ts';

/** A recorded answer of the service: one price, one that it does not trust itself; unknown coins are left out. */
const RECORDED = {
  coins: {
    'ethereum:0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2': {
      decimals: 18,
      symbol: 'WETH',
      price: 3120.55,
      timestamp: 1_795_000_000,
      confidence: 0.99,
    },
    'ethereum:0x00000000000000000000000000000000000000bb': {
      decimals: 18,
      symbol: 'DUST',
      price: 1,
      timestamp: 1_795_000_000,
      confidence: 0.3,
    },
  },
};
const WETH = tokenKey(1, '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const DUST = tokenKey(1, '0x00000000000000000000000000000000000000bb');
const UNKNOWN = tokenKey(1, '0x00000000000000000000000000000000000000cc');

let server: Server;
let requests: string[];
let answers: (readonly [status: number, body: string, headers?: Record<string, string>])[];

beforeEach(async () => {
  requests = [];
  answers = [];
  server = createServer((request, response) => {
    requests.push(decodeURIComponent(request.url ?? ''));
    const [status, body, headers] = answers.shift() ?? [200, JSON.stringify(RECORDED)];
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

const source = (options: { batchSize?: number; cacheMs?: number; timeoutMs?: number } = {}) =>
  defiLlamaPrices({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chainSlug: (chainId) => (chainId === 1 ? 'ethereum' : undefined),
    retryDelayMs: 1,
    ...options,
  });

test('reads a recorded answer, whatever the spelling of addresses, and leaves out what is not trusted', async () => {
  const prices = await source()([WETH, DUST, UNKNOWN, tokenKey(99, '0xaa')]);
  expect([...prices]).toEqual([[WETH, { usd: 3120.55, source: 'defillama', pricedAt: new Date(1_795_000_000_000) }]]);
  expect(requests).toEqual([
    `/prices/current/${[WETH, DUST, UNKNOWN].map((it) => it.replace('1:', 'ethereum:')).join(',')}`,
  ]);
});

test('asks in batches and keeps answers, also those of unknown tokens', async () => {
  const prices = source({ batchSize: 2, cacheMs: 60_000 });
  await prices([WETH, DUST, UNKNOWN]);
  expect(requests.length).toBe(2);
  expect((await prices([WETH, UNKNOWN])).has(WETH)).toBe(true);
  expect(requests.length).toBe(2);
});

test('an answer is asked for again when it is old', async () => {
  const prices = source({ cacheMs: 1 });
  await prices([WETH]);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await prices([WETH]);
  expect(requests.length).toBe(2);
});

test.each([
  ['too many requests', [429, '', { 'Retry-After': '0' }]],
  ['a fault', [503, 'busy']],
  ['nonsense', [200, '<html>']],
  ['an unexpected shape', [200, '{"coins":{"a":{"price":"1"}}}']],
] as const)('tries again after %s', async (_name, answer) => {
  answers = [answer];
  expect((await source()([WETH])).get(WETH)?.usd).toBe(3120.55);
  expect(requests.length).toBe(2);
});

test('gives up after three attempts, at once when asking again is no use, and tries afresh next time', async () => {
  const prices = source();
  answers = [
    [500, ''],
    [502, ''],
    [503, ''],
  ];
  await expect(prices([WETH])).rejects.toThrow('answered 503');
  answers = [[400, '']];
  await expect(prices([WETH])).rejects.toThrow('answered 400');
  expect(requests.length).toBe(4);
  expect((await prices([WETH])).size).toBe(1);
});
