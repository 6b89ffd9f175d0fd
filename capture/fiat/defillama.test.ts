import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { type TokenKey, tokenKey } from '../pools/token-key.ts';
import { defiLlamaPrices, LLAMA_CHAINS, type LlamaOptions } from './defillama.ts';
import type { PriceSource } from './price-sources.ts';

/** Two minutes ago, Unix seconds. */
const PRICED_AT = Math.floor(Date.now() / 1000) - 120;

/**
 * What the service knows, as it keeps it: by name of the coin in lower case. One it trusts, one it does not, one whose
 * price was set by hand, two entries that are not whole, and two of times to come.
 */
const RECORDED: Record<string, object> = {
  'ethereum:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2': {
    decimals: 18,
    symbol: 'WETH',
    price: 3120.55,
    timestamp: PRICED_AT,
    confidence: 0.99,
  },
  'ethereum:0x00000000000000000000000000000000000000bb': {
    decimals: 18,
    symbol: 'DUST',
    price: 1,
    timestamp: PRICED_AT,
    confidence: 0.3,
  },
  'ethereum:0x00000000000000000000000000000000000000dd': { symbol: 'HAND', price: 2, timestamp: PRICED_AT + 1 },
  'ethereum:0x00000000000000000000000000000000000000e1': { decimals: 18, symbol: 'AGELESS', price: 7, confidence: 1 },
  'ethereum:0x00000000000000000000000000000000000000e2': { symbol: 'NONE', price: null, timestamp: PRICED_AT },
  'ethereum:0x00000000000000000000000000000000000000e3': { symbol: 'SOON', price: 3, timestamp: PRICED_AT + 3_600 },
  'ethereum:0x00000000000000000000000000000000000000e4': { symbol: 'MILLIS', price: 3, timestamp: PRICED_AT * 1e9 },
};
const WETH = tokenKey(1, '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const DUST = tokenKey(1, '0x00000000000000000000000000000000000000bb');
const UNKNOWN = tokenKey(1, '0x00000000000000000000000000000000000000cc');
const HAND = tokenKey(1, '0x00000000000000000000000000000000000000dd');
const AGELESS = tokenKey(1, '0x00000000000000000000000000000000000000e1');
const PRICELESS = tokenKey(1, '0x00000000000000000000000000000000000000e2');
const SOON = tokenKey(1, '0x00000000000000000000000000000000000000e3');
const MILLIS = tokenKey(1, '0x00000000000000000000000000000000000000e4');

/** Names each coin as it was asked for, and leaves out those that it does not know. */
function answerTo(url: string): string {
  const requestedTokens = decodeURIComponent(url.replace('/prices/current/', '')).split(',');
  const coins = requestedTokens.flatMap((name) => {
    const known = RECORDED[name.toLowerCase()];
    return known ? [[name, known] as const] : [];
  });
  return JSON.stringify({ coins: Object.fromEntries(coins) });
}

let server: Server;
let requests: string[];
let answers: (readonly [status: number, body: string])[];

beforeEach(async () => {
  requests = [];
  answers = [];
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const [status, body] = answers.shift() ?? [200, answerTo(request.url ?? '')];
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

type Options = NonNullable<LlamaOptions['limits']>;

const sourceOfBoth = (options: Options = {}): PriceSource =>
  defiLlamaPrices({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chains: [{ chainId: 1, name: 'Mainnet' }],
    limits: options,
    now: () => performance.now(),
    wallClock: Date.now,
  });

/** Asked for tokens that come first. */
function source(options: Options = {}) {
  const ask = sourceOfBoth(options);
  return (first: readonly TokenKey[]) => ask({ first, others: [] });
}

test('reads a recorded answer, and leaves out what is not trusted', async () => {
  const { prices } = await source()([WETH, DUST, UNKNOWN, tokenKey(99, '0xaa')]);
  expect([...prices]).toEqual([[WETH, { usd: 3120.55, source: 'defillama', pricedAt: new Date(PRICED_AT * 1000) }]]);
  expect(requests).toEqual([
    `/prices/current/${[WETH, DUST, UNKNOWN].map((it) => it.replace('1:', 'ethereum:')).join(',')}`,
  ]);
});

test('an entry that is not whole, or of a time to come, has no price, and spoils no other', async () => {
  const { prices } = await source()([AGELESS, HAND, PRICELESS, SOON, MILLIS, WETH]);
  expect([...prices.keys()]).toEqual([HAND, WETH]);
  expect(prices.get(HAND)).toEqual({ usd: 2, source: 'defillama', pricedAt: new Date((PRICED_AT + 1) * 1000) });
});

test('finds a coin whose name comes back with capitals', async () => {
  const coin = { price: 5, timestamp: PRICED_AT, confidence: 1 };
  answers = [[200, JSON.stringify({ coins: { 'ethereum:0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2': coin } })]];
  expect((await source()([WETH])).prices.get(WETH)?.usd).toBe(5);
});

test('every chain of the mainnet configuration has its name at the service', async () => {
  const { chains } = JSON.parse(await readFile(new URL('../../config/mainnet.json', import.meta.url), 'utf8'));
  const names = chains.map(({ chainId }: { chainId: number }) => LLAMA_CHAINS.get(chainId));
  expect(names.length).toBe(10);
  expect(names).not.toContain(undefined);
});

test('asks in batches and keeps answers, also those of unknown tokens', async () => {
  const prices = source({ batchSize: 2, cacheMs: 60_000 });
  await prices([WETH, DUST, UNKNOWN]);
  expect(requests.length).toBe(2);
  expect((await prices([WETH, UNKNOWN])).prices.has(WETH)).toBe(true);
  expect(requests.length).toBe(2);
});

test('an answer is asked for again when it is old', async () => {
  stopTime();
  const prices = source({ cacheMs: 60_000 });
  await prices([WETH]);
  await pass(59_999);
  await prices([WETH]);
  expect(requests.length).toBe(1);
  await pass(1);
  await prices([WETH]);
  expect(requests.length).toBe(2);
});

test.each([
  ['too many requests', [429, '']],
  ['a fault', [503, 'busy']],
  ['malformed', [200, '<html>']],
  ['an unexpected shape', [200, '{"coins":[]}']],
] as const)('reports %s, and asks again next time', async (_name, answer) => {
  answers = [answer];
  const ask = source();
  expect(await ask([WETH])).toMatchObject({ prices: { size: 0 }, failures: [{ retryable: true }] });
  expect(await ask([WETH])).toMatchObject({ prices: { size: 1 }, failures: [] });
  expect(requests.length).toBe(2);
});

describe('when a batch fails', () => {
  const ask = () => source({ batchSize: 1, cacheMs: 60_000 });

  test('one that is refused spoils no other', async () => {
    answers = [[414, '']];
    const { prices, failures } = await ask()([DUST, WETH, HAND]);
    expect([...prices.keys()]).toEqual([WETH, HAND]);
    expect(failures.map(({ message }) => message)).toEqual(['the price service returned 414']);
  });

  test('while the service is unreachable, what is known counts, and the rest is not asked for', async () => {
    const prices = ask();
    await prices([WETH]);
    answers = [[503, '']];
    const answer = await prices([WETH, HAND, DUST]);
    expect([...answer.prices.keys()]).toEqual([WETH]);
    expect(answer.failures.length).toBe(1);
    expect(requests.length).toBe(2);
  });
});

describe('untrusted tokens', () => {
  const UNTRUSTED_TOKENS = Array.from({ length: 7 }, (_, n) => tokenKey(1, `0x${String(n).padStart(40, '5')}`));
  const requestedTokens = () =>
    requests.splice(0).map((url) => url.replace('/prices/current/', '').replaceAll('ethereum:', '1:').split(','));

  test('are asked for after all others, a few in each round, in turn', async () => {
    const ask = sourceOfBoth({ unknownPerCall: 3, cacheMs: 60_000 });
    const round = () => ask({ first: [WETH], others: UNTRUSTED_TOKENS });
    for (let n = 0; n < 4; n++) await round();
    expect(requestedTokens()).toEqual([
      [WETH],
      UNTRUSTED_TOKENS.slice(0, 3),
      UNTRUSTED_TOKENS.slice(3, 6),
      UNTRUSTED_TOKENS.slice(6),
    ]);
    expect((await ask({ first: [], others: [HAND, ...UNTRUSTED_TOKENS] })).prices.has(HAND)).toBe(true);
  });

  test('that the service does not know are asked for less often, and those asked for longest ago come first', async () => {
    stopTime();
    const ask = sourceOfBoth({ unknownPerCall: 2, cacheMs: 1, unknownMs: 200 });
    const round = (others: readonly TokenKey[]) => ask({ first: [], others });
    const [a, b, c] = UNTRUSTED_TOKENS as [TokenKey, TokenKey, TokenKey];
    await round([a]);
    await pass(1);
    await round([b]);
    await pass(20);
    await round([a, b]);
    await round([a, c]);
    expect(requestedTokens()).toEqual([[a], [b], [c]]);
    await pass(178);
    await round([b, a]);
    expect(requestedTokens()).toEqual([]);
    await pass(2);
    await round([c, b, a]);
    expect(requestedTokens()).toEqual([[a, b]]);
  });

  test('are not asked for while the service is unreachable, and one batch of them that is refused is not in the way', async () => {
    const ask = sourceOfBoth({ unknownPerCall: 3, cacheMs: 60_000 });
    answers = [[503, '']];
    await ask({ first: [WETH], others: UNTRUSTED_TOKENS });
    expect(requestedTokens()).toEqual([[WETH]]);
    answers = [
      [200, answerTo('/prices/current/')],
      [414, ''],
    ];
    await ask({ first: [WETH], others: UNTRUSTED_TOKENS });
    await ask({ first: [WETH], others: UNTRUSTED_TOKENS });
    expect(requestedTokens().slice(1)).toEqual([UNTRUSTED_TOKENS.slice(0, 3), UNTRUSTED_TOKENS.slice(3, 6)]);
  });
});
