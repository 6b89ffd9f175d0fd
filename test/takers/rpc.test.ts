import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { StatusResult } from '../../api/levels/status-schema.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { parseBuilderFrame } from '../../quoting/live/builder-frame.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, startLiveStream, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import { decodeBap710Frame, decodeBap710Overrides, decodeBuilderFrame, decodeBuilderOverrides } from './decoders.ts';
import { connectTexts, type TextClient } from './levels-client.ts';
import { malformedMessage } from './malformed.ts';

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 1, guards: ['none'] }));
/** Its source may be passed on. */
const api = startedWorld(() => {
  const { live } = world.config;
  const sources = live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  return startLiveStream(world, { chain: { ...world.config, live: { ...live, sources } } });
});
/** Its source may not. */
const closed = startedWorld(() => startLiveStream(world));

const urlOf = (of = api) => `${new URL(of.base).origin}/rpc/${world.config.chainId}`;
interface RpcResponse {
  readonly id: unknown;
  readonly result?: never;
  readonly error?: { readonly code: number; readonly message: string };
}
async function post(body: unknown, headers: Record<string, string> = {}, of = api) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(urlOf(of), { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: text });
}
const call = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
async function ask(method: string, params: unknown = [], headers: Record<string, string> = {}, of = api) {
  const response = (await (await post(call(method, params), headers, of)).json()) as RpcResponse;
  expect(response).toMatchObject({ jsonrpc: '2.0', id: 1 });
  return response;
}
const codeOf = async (body: unknown) => ((await (await post(body)).json()) as RpcResponse).error?.code;
const KEY = { Authorization: 'Bearer good' };
const pools = () => world.market.pools.map(({ address }) => address);
const until = (what: string, isTrue: () => boolean | Promise<boolean>) =>
  expect.poll(isTrue, { timeout: 10_000, interval: 20, message: what }).toBe(true);

test('state overrides of a source that may be passed on are its own words, in both forms, for the block being built', async () => {
  const updates = await updateAll(world.market, () => 203n);
  const sent = Object.assign({}, ...updates.map(({ words }) => words)) as Record<string, string>;
  const holds = (words: Record<string, string> | undefined) =>
    words !== undefined && Object.entries(sent).every(([slot, value]) => words[slot] === value);
  const { registry, builder } = world.market;
  await until('the words', async () => {
    const { merged } = decodeBap710Overrides((await ask('pamm_getPammStateOverrides')).result);
    return holds(merged[registry]);
  });
  const { number } = builder.block();
  const relayer = decodeBap710Overrides((await ask('pamm_getPammStateOverrides')).result);
  const text = await (await post(call('titan_getPammStateOverrides', []))).text();
  const titan = decodeBuilderOverrides(JSON.parse(text).result);
  expect([relayer.blockNumber, titan.blockNumber]).toEqual([number, number]);
  expect(titan.venues).toEqual(relayer.venues);
  expect(relayer.venues.size).toBeGreaterThan(0);
  const [words] = [...relayer.venues.values()];
  expect(Object.keys(words ?? {})).toContain(registry);
  // Another service reads it as it reads a builder, nanoseconds included.
  expect(parseBuilderFrame(text, world.config.chainId)).toMatchObject({ blockNumber: number, isComplete: false });
  expect(typeof (parseJson(text) as { result: { timestamp: unknown } }).result.timestamp).toBe('bigint');
});

test('words of other sources are never passed on', async () => {
  await updateAll(world.market, () => 204n);
  const batch = { method: 'POST', body: JSON.stringify({ pools: pools() }) };
  await until('live quotes', async () =>
    (await (await fetch(`${closed.base}/bid_ask/batch`, batch)).text()).includes('"live"'),
  );
  const relayer = decodeBap710Overrides((await ask('pamm_getPammStateOverrides', [], {}, closed)).result);
  expect([relayer.venues.size, relayer.merged]).toEqual([0, {}]);
  expect(decodeBuilderOverrides((await ask('titan_getPammStateOverrides', [], {}, closed)).result).venues.size).toBe(0);
  expect((await ask('pamm_status', [], {}, closed)).result).toMatchObject({
    ready: true,
    liveQuotes: 0,
    overlaySlots: 0,
  });
  const { result } = await ask('pamm_status');
  expect(StatusResult.parse(result)).toEqual({
    ready: true,
    targetBlock: Number(world.market.builder.block().number),
    quotes: 2,
    liveQuotes: 2,
    overlaySlots: expect.any(Number),
    builders: [],
    pendingBundles: 0,
    maxQuoteAgeMs: 8_000,
    quoteStreamSubscribers: 0,
    priceLevels: expect.objectContaining({ intervalMs: 250, subscribers: 0 }),
  });
});

test('price levels are those of the other endpoint, in the form that the name of the call says', async () => {
  await waitForUpdates(world, await updateAll(world.market, () => 205n), batchesOf(api));
  for (const [method, format, decode] of [
    ['pamm_getPammPriceLevels', 'bap710', decodeBap710Frame],
    ['titan_getPammPriceLevels', 'builder', decodeBuilderFrame],
  ] as const) {
    const text = await (await post(call(method, [{ pamms: pools() }]))).text();
    const [, result = ''] = /"result":(.*)\}$/.exec(text) ?? [];
    const url = `${api.base}/price_levels?format=${format}&pools=${pools()}`;
    expect(decode(result).pairs).toEqual(decode(await (await fetch(url)).text()).pairs);
    for (const headers of [KEY, { 'X-Api-Key': 'good' }]) {
      const all = await (await post(call(method, []), headers)).text();
      expect(decode(/"result":(.*)\}$/.exec(all)?.[1] ?? '').pairs).toHaveLength(6);
    }
    const read = async () => {
      const response = await post(call(method, []));
      return decode(/"result":(.*)\}$/.exec(await response.text())?.[1] ?? '');
    };
    // Without a key it is the frame of the last second.
    await until('the pools that are read for anyone', async () => {
      const { pairs, omitted } = await read();
      return pairs.length >= 4 && pairs.length / 2 + Number(omitted) === 3;
    });
  }
});

test('state overrides and price levels of a batch are of one state while prices change', async () => {
  const { market } = world;
  // Prices change while a node reads.
  const proxy = await startRpcProxy(market.chain.rpcUrl);
  proxy.misbehave({ kind: 'slow', ms: 100 });
  const slow = await startStreamApi({
    chain: { ...api.chain, rpcUrls: [proxy.url] },
    directory: fixedDirectory(world.served),
  });
  onTestFinished(async () => {
    await slow.stop();
    await proxy.stop();
  });
  const sent: { readonly pool: string; readonly price: bigint; readonly words: Readonly<Record<string, string>> }[] =
    [];
  const change = async (price: bigint) => {
    const updates = await updateAll(market, () => price);
    for (const [index, { words }] of updates.entries()) sent.push({ pool: pools()[index] ?? '', price, words });
  };
  /** The prices that the words of a batch mean, and its levels, by pool. */
  const readBoth = async (isLevelsFirst = false) => {
    const calls = [call('pamm_getPammStateOverrides', [], 1), call('pamm_getPammPriceLevels', [{ pamms: pools() }], 2)];
    const responses = (await (await post(isLevelsFirst ? calls.reverse() : calls, {}, slow)).json()) as RpcResponse[];
    const [overrides, levels] = isLevelsFirst ? responses.reverse() : responses;
    const { merged } = decodeBap710Overrides(overrides?.result);
    const words = merged[market.registry] ?? {};
    const { pairs } = decodeBap710Frame(JSON.stringify(levels?.result));
    return pools().map((pool) => ({
      price: sent.findLast(
        (each) => each.pool === pool && Object.entries(each.words).every(([slot, word]) => words[slot] === word),
      )?.price,
      levels: stringifyJson(pairs.filter(({ pamm }) => pamm === pool)),
    }));
  };
  const prices = [194n, 198n, 202n, 206n];
  const levelsAt = new Map<bigint, readonly string[]>();
  for (const price of prices) {
    await change(price);
    await until('the price', async () => {
      const read = await readBoth();
      levelsAt.set(
        price,
        read.map(({ levels }) => levels),
      );
      return read.every((each) => each.price === price);
    });
  }
  let isOver = false;
  const changes = (async () => {
    for (let count = 0; !isOver; count += 1) await change(prices[count % prices.length] ?? 0n);
  })();
  const seen = new Set<bigint>();
  for (let count = 0; count < 20; count += 1) {
    for (const [index, { price, levels }] of (await readBoth(count % 2 === 0)).entries()) {
      expect(price).toBeDefined();
      expect(prices.find((each) => levelsAt.get(each)?.[index] === levels)).toBe(price);
      seen.add(price ?? 0n);
    }
  }
  isOver = true;
  await changes;
  expect(seen.size).toBeGreaterThan(2);
});

test.each([
  ['no JSON', '{', -32_700],
  ['a key twice', '{"id":1,"id":2}', -32_700],
  ['a text', '"x"', -32_600],
  ['no version', { id: 1, method: 'pamm_status' }, -32_600],
  ['another version', { ...call('pamm_status'), jsonrpc: '1.0' }, -32_600],
  ['an id that is an object', call('pamm_status', [], {}), -32_600],
  ['an empty batch', [], -32_600],
  ['a batch of 21', Array.from({ length: 21 }, () => call('pamm_status')), -32_600],
  ['another method', call('eth_call', []), -32_601],
  ['a maker call', call('pamm_sendQuoteUpdateV1', []), -32_601],
  ['a subscription by HTTP', call('pamm_subscribe', []), -32_601],
  ['a parameter too many', call('pamm_status', [1]), -32_602],
  ['parameters by name', call('pamm_getPammPriceLevels', { pamms: [] }), -32_602],
  ['a pool that is no address', call('pamm_getPammPriceLevels', [{ pamms: ['0x1'] }]), -32_602],
  ['an order without an amount', call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]), -32_602],
  [
    'an order of one token',
    call(
      'titan_getPammQuote',
      Array(2)
        .fill(`0x${'11'.repeat(20)}`)
        .concat('0x1'),
    ),
    -32_602,
  ],
  ['a decimal amount', call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, '1']), -32_602],
  [
    'tokens without a pool',
    call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, '0x1']),
    -32_001,
  ],
])('%s is rejected with the code of JSON-RPC', async (_what, body, code) => {
  expect(await codeOf(body)).toBe(code);
});

test('a method that is not served is refused by name', async () => {
  for (const method of ['eth_call', 'eth_blockNumber', 'net_version', 'pamm_sendQuoteUpdateV1'])
    expect((await ask(method)).error?.message).toContain(method);
});

test('a batch gets the responses of its calls in order; notifications get none', async () => {
  const silent = { jsonrpc: '2.0', method: 'pamm_status' };
  const batch = [call('pamm_status', [], 'a'), silent, call('x', [], 2), 7];
  const responses = (await (await post(batch)).json()) as RpcResponse[];
  expect(responses.map(({ id, error }) => [id, error?.code])).toEqual([
    ['a', undefined],
    [2, -32_601],
    [null, -32_600],
  ]);
  const alone = await post(silent);
  expect([alone.status, await alone.text()]).toEqual([204, '']);
});

test('a key that is not valid is as none, by HTTP and WebSocket, and the response says so', async () => {
  const responses = [{ 'X-Api-Key': 'bad' }, { Authorization: 'bad' }].map((headers) =>
    post(call('pamm_status'), headers),
  );
  for (const response of await Promise.all(responses))
    expect([response.status, response.headers.get('X-Key-Ignored')]).toEqual([200, 'unknown']);
  const url = urlOf().replace('http', 'ws');
  for (const [key, ignored] of [
    ['bad', 'unknown'],
    ['good', undefined],
  ] as const) {
    const socket = new WebSocket(url, { headers: { Authorization: key } });
    const [{ headers }] = (await once(socket, 'upgrade')) as [IncomingMessage];
    expect(headers['x-key-ignored']).toBe(ignored);
    socket.terminate();
  }
});

test('parameters that libraries write for none are none', async () => {
  for (const params of [null, {}, []]) expect((await ask('pamm_status', params)).result).toMatchObject({ ready: true });
});

test('an unknown chain and a GET without an upgrade are errors of HTTP', async () => {
  expect((await fetch(urlOf().replace(/\d+$/, '9'), { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await fetch(urlOf())).status).toBe(426);
});

interface Message extends RpcResponse {
  readonly method?: string;
  readonly params?: { readonly subscription: string; readonly result: unknown; readonly reason?: string };
}
const messagesOf = ({ texts }: TextClient) => texts.map(({ text }) => JSON.parse(text) as Message);
const notesOf = (client: TextClient, id: unknown) =>
  messagesOf(client).filter(({ params }) => id !== undefined && params?.subscription === id);
async function askWs(client: TextClient, body: { readonly id: unknown }): Promise<Message> {
  const find = () => messagesOf(client).find(({ id }) => id === body.id);
  client.socket.send(JSON.stringify(body));
  await until('the response', () => find() !== undefined);
  return find() as Message;
}

test('a WebSocket answers the same calls, and subscriptions send complete frames until they are ended', async () => {
  const client = await connectTexts(urlOf());
  expect((await askWs(client, call('pamm_status', [], 's'))).result).toMatchObject({ ready: true });
  const levels = (await askWs(client, call('pamm_subscribe', ['subscribePriceLevelsV1', { pamms: pools() }], 'l')))
    .result;
  const words = (await askWs(client, call('pamm_subscribe', ['subscribeNewQuotesV1', { routers: [] }], 'q'))).result;
  await updateAll(world.market, () => 206n);
  await until('frames', () => [levels, words].every((id) => notesOf(client, id).length > 1));
  for (const { params } of notesOf(client, levels)) {
    expect(decodeBap710Frame(JSON.stringify(params?.result)).pairs.length).toBeGreaterThan(0);
  }
  await until('words', () => {
    const { result } = notesOf(client, words).at(-1)?.params ?? {};
    return decodeBap710Overrides(result).venues.size === 2;
  });
  const [router] = decodeBap710Overrides(notesOf(client, words).at(-1)?.params?.result).venues.keys();
  expect((await askWs(client, call('pamm_unsubscribe', [words], 'w'))).result).toBe(true);
  const one = (await askWs(client, call('pamm_subscribe', ['subscribeNewQuotesV1', { routers: [router] }], 'r')))
    .result;
  await until('one venue', () => notesOf(client, one).length > 0);
  const last = notesOf(client, one).at(-1)?.params?.result;
  expect([...decodeBap710Overrides(last).venues.keys()]).toEqual([router]);
  for (const id of [levels, one]) expect((await askWs(client, call('pamm_unsubscribe', [id], id))).result).toBe(true);
  expect((await askWs(client, call('pamm_unsubscribe', [levels], 'again'))).result).toBe(false);
  const count = client.texts.length;
  // Frames that another client gets with the same subscriptions do not come here any more.
  const other = await connectTexts(urlOf());
  const further: unknown[] = [];
  for (const body of [
    call('pamm_subscribe', ['subscribePriceLevelsV1', { pamms: pools() }], 'l'),
    call('pamm_subscribe', ['subscribeNewQuotesV1', { routers: [router] }], 'q'),
  ]) {
    further.push((await askWs(other, body)).result);
  }
  await until('frames elsewhere', () => further.every((id) => notesOf(other, id).length > 2));
  expect((await askWs(client, call('pamm_status', [], 'end'))).result).toBeDefined();
  expect(client.texts.length).toBe(count + 1);
});

test('a connection that breaches limits gets errors, then a bye', async () => {
  const client = await connectTexts(urlOf());
  for (let sent = 0; sent < 30; sent += 1) client.socket.send('{');
  await until('errors', () => client.texts.length === 30);
  const codes = messagesOf(client).map(({ error }) => error?.code);
  expect(new Set(codes)).toEqual(new Set([-32_700, -32_005]));
  for (let sent = 0; sent < 200; sent += 1) client.socket.send('{');
  await until('the end', () => client.closed() !== null);
  expect(messagesOf(client).at(-1)).toMatchObject({ method: 'pamm_bye', params: { reason: 'limits' } });
});

test('a connection has two calls of levels or overrides a second, and a batch too', async () => {
  const levels = (id: number) => call('pamm_getPammPriceLevels', [{ pamms: pools() }], id);
  const words = (id: unknown) => call('pamm_getPammStateOverrides', [], id);
  const calls = [levels(1), words(2), levels(3), words(4), call('pamm_status', [], 5)];
  const batch = (await (await post(calls)).json()) as RpcResponse[];
  expect(batch.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32_005, -32_005, undefined]);
  const client = await connectTexts(urlOf());
  const codes = [];
  for (const id of ['a', 'b', 'c']) codes.push((await askWs(client, { ...levels(0), id })).error?.code);
  expect(codes).toEqual([undefined, undefined, -32_005]);
  let id = 0;
  const next = async () => {
    id += 1;
    return (await askWs(client, words(id))).error;
  };
  // Not so often that the connection reaches its limit of messages.
  await expect.poll(next, { timeout: 10_000, interval: 250 }).toBeUndefined();
});

test('a quote for an exact input is that of the levels, of the best pool or of one', async () => {
  await waitForUpdates(world, await updateAll(world.market, () => 207n), batchesOf(api));
  const text = await (await post(call('titan_getPammPriceLevels', [{ pamms: pools() }]))).text();
  const { pairs } = decodeBuilderFrame(/"result":(.*)\}$/.exec(text)?.[1] ?? '');
  for (const { pamm, tokenIn, tokenOut, levels } of pairs) {
    // Of several levels, not all are ends of bins.
    for (const { amountIn, amountOut } of [levels.at(-1), levels.at(-4)].filter((level) => level !== undefined)) {
      const order = [tokenIn, tokenOut, `0x${amountIn.toString(16)}`];
      const [one, best] = [
        await ask('titan_getPammQuoteVenue', [pamm, ...order]),
        await ask('titan_getPammQuote', order),
      ];
      for (const { result } of [one, best]) {
        expect(result).toMatchObject({
          tokenIn,
          tokenOut,
          amountIn: order[2],
          amountOut: expect.stringMatching(/^0x/),
        });
        const { pamm: venue, router } = result as unknown as { pamm: string; router: string };
        expect([pools().includes(venue as never), router]).toEqual([true, venue]);
      }
      const [given, most] = [one, best].map(({ result }) =>
        BigInt((result as unknown as { amountOut: string }).amountOut),
      );
      expect(given).toBeLessThanOrEqual(amountOut);
      expect(Number(given)).toBeGreaterThan(Number(amountOut) * 0.98);
      expect(most).toBeGreaterThanOrEqual(given ?? 0n);
    }
  }
  const { error } = await ask('titan_getPammQuoteVenue', [
    `0x${'99'.repeat(20)}`,
    pairs[0]?.tokenIn,
    pairs[0]?.tokenOut,
    '0x1',
  ]);
  expect(error).toEqual({
    code: -32_001,
    message: 'venue is neither a served pool nor a router whose pools trade tokenIn for tokenOut',
  });
});

test('a subscription without pools has those that are read for anyone, whichever way it leaves them out', async () => {
  for (const named of [[{ pamms: [] }], [{}], []]) {
    const client = await connectTexts(urlOf());
    const { result } = await askWs(client, call('pamm_subscribe', ['subscribePriceLevelsV1', ...named], 'l'));
    await until('a frame', () => notesOf(client, result).length > 0);
    const { pairs, omitted } = decodeBap710Frame(JSON.stringify(notesOf(client, result)[0]?.params?.result));
    expect([pairs.length >= 4, pairs.length / 2 + Number(omitted)]).toEqual([true, 3]);
    client.socket.terminate();
  }
});

test('a connection has one subscription of each kind', async () => {
  const client = await connectTexts(urlOf());
  const subscribe = (id: number, kind: string, named: object) => call('pamm_subscribe', [kind, named], id);
  const levels = (id: number) => subscribe(id, 'subscribePriceLevelsV1', { pamms: pools() });
  const quotes = (id: number) => subscribe(id, 'subscribeNewQuotesV1', { routers: [] });
  client.socket.send(JSON.stringify([levels(1), quotes(2), levels(3)]));
  await until('responses', () => client.texts.length > 0);
  const responses = JSON.parse(client.texts[0]?.text ?? '') as RpcResponse[];
  expect(responses.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32_005]);
  expect((await askWs(client, quotes(4))).error?.code).toBe(-32_005);
  expect((await askWs(client, call('pamm_unsubscribe', [responses[0]?.result], 5))).result).toBe(true);
  expect((await askWs(client, levels(6))).error).toBeUndefined();
});

/** `RPC_MESSAGES=100000` sends as many as are promised; `npm run bench:levels` also times quotes meanwhile. */
const MESSAGES = Number(process.env.RPC_MESSAGES ?? 500);

test(`${MESSAGES} malformed messages get responses of JSON-RPC or HTTP, and nothing breaks`, {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(fc.readConfigureGlobal().seed ?? 0);
  const seen = new Map<string, number>();
  for (let sent = 0; sent < MESSAGES; sent += 10) {
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(malformedMessage(random))));
    for (const response of responses) {
      const text = await response.text();
      expect([200, 204]).toContain(response.status);
      const read = text === '' ? [] : [JSON.parse(text)].flat();
      for (const { jsonrpc, id, error } of read as (RpcResponse & { jsonrpc: string })[]) {
        expect([jsonrpc, id]).toEqual(['2.0', expect.toSatisfy((each) => each === null || typeof each !== 'object')]);
        // -32603 is a defect.
        expect([undefined, -32_700, -32_600, -32_601, -32_602, -32_001, -32_005]).toContain(error?.code);
        seen.set(`${error?.code}`, (seen.get(`${error?.code}`) ?? 0) + 1);
      }
    }
  }
  if (process.env.RPC_MESSAGES) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
  expect(seen.size).toBeGreaterThan(4);
  expect((await ask('pamm_status')).result).toMatchObject({ ready: true });
});
