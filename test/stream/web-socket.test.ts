import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { movePrice } from '../quotes/quote-world.ts';
import { documentClient, type Held } from './document-client.ts';
import type { StreamApi, StreamApiOptions } from './stream-api.ts';
import { streamWorld, withoutTime } from './stream-world.ts';
import { connectWs, rejectedUpgrade, type WsClient } from './ws-client.ts';

const NO_POOL = `0x${'99'.repeat(20)}`;
const KEY = { Authorization: 'Bearer good' };
const WAIT = { timeout: 10_000, interval: 10 };

const world = streamWorld();
const clients: WsClient[] = [];
const others: StreamApi[] = [];

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await Promise.all(others.splice(0).map((other) => other.stop()));
  await expect.poll(() => world.api.connections.size, WAIT).toBe(0);
});

/** An API of its own for one test. */
async function another(options: Partial<StreamApiOptions>): Promise<StreamApi> {
  const other = await world.startApi(options);
  others.push(other);
  return other;
}

const urlOf = ({ base }: StreamApi) => `${base.replace('http', 'ws')}/ws`;

async function open(headers: Record<string, string> = {}, at = world.api, autoPong = true): Promise<WsClient> {
  const client = await connectWs(urlOf(at), headers, autoPong);
  clients.push(client);
  return client;
}

const isUpToDate = ({ book }: WsClient, block: number) =>
  expect.poll(() => book.block, WAIT).toBeGreaterThanOrEqual(block);

/** A `ping` of which this many objects and arrays are inside of each other. */
function nested(depth: number): string {
  return `{"op":"ping","id":1,"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

test('reports subscribed pools and their changes as REST does, and no others', async () => {
  const client = await open();
  expect(await client.ask({ op: 'subscribe', id: 'a', pools: [...world.names, NO_POOL] })).toEqual({
    event: 'ack',
    id: 'a',
  });
  await isUpToDate(client, await world.blockNow());
  expect(client.book.events[0]).toBe('snapshot');
  expect(client.book.failed).toEqual(new Map([[NO_POOL, 404]]));
  const [first, second] = world.pools;
  expect((await client.ask({ op: 'unsubscribe', id: 1, pools: [second.address] })).event).toBe('ack');
  await movePrice(world, first, 2_100);
  await isUpToDate(client, await world.blockNow());
  expect(withoutTime(client.book.quotes.get(first.address)?.quote)).toEqual(
    withoutTime(await world.restQuote(first.address)),
  );
});

test('resumes another connection by its last id', async () => {
  const [first] = world.pools;
  const before = await open();
  await before.ask({ op: 'subscribe', id: 1, pools: world.names, depth: false });
  await isUpToDate(before, await world.blockNow());
  before.socket.terminate();
  await movePrice(world, first, 2_222);
  const client = await open();
  await client.ask({ op: 'subscribe', id: 1, pools: world.names, depth: false, after: before.book.lastId });
  await isUpToDate(client, await world.blockNow());
  expect(client.book.events).not.toContain('snapshot');
  expect(withoutTime(client.book.quotes.get(first.address)?.quote)).toEqual(
    withoutTime(await world.restQuote(first.address, false)),
  );
  expect(await client.ask({ op: 'subscribe', id: 2, pools: world.names, after: 'x-1' })).toMatchObject({ status: 400 });
  const { values } = (await world.api.metrics.getSingleMetric('stream_resumes_total')?.get()) ?? { values: [] };
  expect(values.map(({ value }) => value)).toEqual([1]);
});

describe('an operation that is refused changes nothing and is named', () => {
  const many = Array.from({ length: 501 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  test.each([
    ['no JSON', '{', null, 400],
    ['no operation', { op: 'dance', id: 'a' }, 'a', 400],
    ['no id', { op: 'ping' }, null, 400],
    ['a field too many', { op: 'ping', id: 7, x: 1 }, 7, 400],
    ['no address', { op: 'subscribe', id: 1, pools: ['0x12'] }, 1, 400],
    ['no pools', { op: 'subscribe', id: 1, pools: [] }, 1, 400],
    ['too many pools', { op: 'subscribe', id: 1, pools: many }, 1, 400],
    ['all pools without a key', { op: 'subscribe', id: 1 }, 1, 401],
  ])('%s', async (_name, operation, id, status) => {
    const client = await open();
    expect(await client.ask(operation)).toMatchObject({ event: 'error', id, status });
    expect(await client.ask({ op: 'ping', id: 2 })).toEqual({ event: 'ack', id: 2 });
  });

  test('too many pools in a minute', async () => {
    const client = await open();
    for (const id of [1, 2]) await client.ask({ op: 'subscribe', id, pools: many.slice(1) });
    const rejected = await client.ask({ op: 'subscribe', id: 3, pools: many.slice(1, 2) });
    expect(rejected).toMatchObject({ status: 429, retryMs: expect.any(Number) });
  });

  test('more than ten in a second', async () => {
    const client = await open();
    for (let id = 1; id <= 11; id++) client.send({ op: 'ping', id });
    // Not even its id is read.
    const refusal = { event: 'error', id: null, status: 429, retryMs: 1_000 };
    await expect.poll(() => client.answers, WAIT).toContainEqual(expect.objectContaining(refusal));
    await expect.poll(() => client.answers, WAIT).toContainEqual({ event: 'ack', id: 10 });
    expect(client.answers).not.toContainEqual(expect.objectContaining({ id: 11 }));
  });

  test('more than 64 KiB in a second, of which no more is read', async () => {
    const client = await open();
    const ping = (id: number, bytes: number) => {
      const text = JSON.stringify({ op: 'ping', id });
      client.send(text + ' '.repeat(bytes - text.length));
    };
    for (const id of [1, 2, 3, 4]) ping(id, 20_000);
    ping(5, 5_000);
    await expect.poll(() => client.answers.length, WAIT).toBe(5);
    for (const id of [1, 2, 3, 5]) expect(client.answers).toContainEqual({ event: 'ack', id });
    expect(client.answers).toContainEqual(expect.objectContaining({ id: null, status: 429 }));
  });

  test('ten times as much; a client that continues is disconnected', async () => {
    const client = await open();
    for (let n = 0; n < 20; n++) client.send('['.repeat(64 * 1024));
    expect(await client.closed).toEqual([1008, 'limits']);
    expect(client.answers.length).toBeLessThan(12);
  });

  test.each([
    ['deep', nested(20_000), null],
    ['wide', `{"op":"ping","id":1,"x":[${Array(20_000).fill(1)}]}`, null],
    ['a long number', `{"op":"ping","id":${'9'.repeat(1_001)}}`, null],
    ['less deep', nested(32), 1],
  ])('%s', async (_name, text, id) => {
    const client = await open();
    const reason = id === null ? /nested too deeply|too many values|too long/ : /Unrecognized key: "x"/;
    const error = expect.stringMatching(reason);
    expect(await client.ask(text)).toEqual({ event: 'error', id, status: 400, error });
  });

  test('too many in a second; a client that continues is disconnected', async () => {
    const client = await open();
    for (let id = 0; id < 500; id++) client.send(id % 2 ? '' : { op: 'ping', id });
    expect(await client.closed).toEqual([1008, 'limits']);
    const rejected = client.answers.filter(({ event }) => event === 'error');
    expect(rejected[0]).toMatchObject({ status: 429, retryMs: expect.any(Number) });
  });
});

describe('a key', () => {
  test.each([
    ['in the header', KEY, []],
    ['in the first operation', {}, [{ op: 'auth', id: 1, key: 'good' }]],
  ])('%s: all listed pools may be had, and its connections are counted', async (_name, headers, operations) => {
    const client = await open(headers);
    for (const operation of operations) expect((await client.ask(operation)).event).toBe('ack');
    expect(world.api.connections.keyIds).toEqual(['k1']);
    expect((await client.ask({ op: 'subscribe', id: 2, depth: false })).event).toBe('ack');
    await expect.poll(() => client.book.quotes.size, WAIT).toBe(world.pools.length);
  });

  test.each([
    ['one that is not valid', {}, [{ op: 'auth', id: 1, key: 'bad' }], 401],
    [
      'one that comes late',
      {},
      [
        { op: 'ping', id: 1 },
        { op: 'auth', id: 1, key: 'good' },
      ],
      400,
    ],
    ['a second one', KEY, [{ op: 'auth', id: 1, key: 'good' }], 400],
  ])('%s ends the connection', async (_name, headers, operations, status) => {
    const client = await open(headers);
    for (const operation of operations) client.send(operation);
    expect(await client.closed).toEqual([1008, 'auth']);
    expect(client.answers.at(-1)).toMatchObject({ event: 'error', status });
  });

  test('that is revoked ends its connections, subscribed or not', async () => {
    const [subscribed, idle] = [await open(KEY), await open(KEY)];
    await subscribed.ask({ op: 'subscribe', id: 1, pools: world.names });
    world.api.connections.end('key_revoked', 'k1');
    expect([(await subscribed.closed)[0], (await idle.closed)[0]]).toEqual([1001, 1001]);
    expect([subscribed.book.events.at(-1), idle.book.events]).toEqual(['bye', ['bye']]);
  });
});

test('a refused upgrade is answered as a request is', async () => {
  const url = urlOf(world.api);
  expect(await rejectedUpgrade(url, { Authorization: 'Bearer bad' })).toMatchObject({
    status: 401,
    body: { error: 'Invalid API key' },
  });
  expect(await rejectedUpgrade(url.replace('31337', '5'))).toMatchObject({
    status: 404,
    body: { error: 'Unknown chainId: 5' },
  });
  expect(await rejectedUpgrade(`${url}?key=good`)).toMatchObject({ status: 400 });
  const plain = await fetch(`${world.api.base}/ws`);
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
});

test('a path that would be resolved into that of a WebSocket is not found', async () => {
  const { port, pathname } = new URL(world.api.base);
  const socket = connect(Number(port), '127.0.0.1');
  const head = `GET ${pathname}/x/%2e%2e/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n`;
  socket.write(
    `${head}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
  socket.destroy();
});

test('connections are bounded by address and process, whatever their transport', async () => {
  const other = await another({ stream: { connections: 3, connectionsPerAddress: 1 } });
  const stream = await fetch(`${other.base}/stream?pools=${NO_POOL}`);
  expect(await rejectedUpgrade(urlOf(other))).toMatchObject({ status: 429, retryAfter: '10' });
  await open(KEY, other);
  const last = await open(KEY, other);
  expect(await rejectedUpgrade(urlOf(other), KEY)).toMatchObject({ status: 503, retryAfter: '10' });
  expect(other.connections.byTransport).toEqual({ sse: 1, websocket: 2 });
  await stream.body?.cancel();
  await expect.poll(() => other.connections.size, WAIT).toBe(2);
  last.socket.terminate();
  await expect.poll(() => other.connections.size, WAIT).toBe(1);
});

test('a handshake that breaks off leaves nothing behind', async () => {
  const { port, pathname } = new URL(`${world.api.base}/ws`);
  const head = `GET ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
  for (const rest of [
    'Sec-WebSocket-Version: 13\r\n\r\n',
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n',
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${head}${rest}`, () => socket.destroy());
  }
  const client = await open();
  await expect.poll(() => world.api.connections.size, WAIT).toBe(1);
  expect((await client.ask({ op: 'ping', id: 1 })).event).toBe('ack');
});

test('a client that answers no pings is cut, others are not', async () => {
  const other = await another({ pingMs: 50 });
  const [silent, good] = [await open({}, other, false), await open({}, other)];
  expect((await silent.closed)[0]).toBe(1006);
  expect(good.socket.readyState).toBe(good.socket.OPEN);
  expect(await other.metrics.metrics()).toMatch(/stream_terminations_total\{.*reason="timeout".*\} 1/);
});

test('a client that pings without reading is cut and counted once', async () => {
  const other = await another({});
  const { socket } = await open({}, other);
  socket.pause();
  const isOpen = () => other.connections.size > 0;
  const payload = Buffer.alloc(125);
  while (isOpen()) {
    for (let count = 0; count < 2_000; count++) socket.ping(payload, true, () => undefined);
    await new Promise(setImmediate);
  }
  socket.resume();
  expect(await other.metrics.metrics()).toMatch(/stream_terminations_total\{.*reason="timeout".*\} 1\n/);
});

test('a stop says bye, and closes what never subscribed too', async () => {
  const other = await another({});
  const [subscribed, idle] = [await open({}, other), await open({}, other)];
  await subscribed.ask({ op: 'subscribe', id: 1, pools: world.names });
  await isUpToDate(subscribed, 1);
  others.splice(0);
  await other.stop();
  expect([(await subscribed.closed)[0], (await idle.closed)[0]]).toEqual([1001, 1001]);
  expect(subscribed.book.events.at(-1)).toBe('bye');
});

test('the client of docs/use/stream.md holds what REST returns, and resumes when it is terminated or the server vanishes', async () => {
  const follow = await documentClient(2_000);
  const { port, pathname } = new URL(world.api.base);
  const proxy = await startTcpProxy('127.0.0.1', Number(port));
  const held: Held = new Map();
  const stop = new AbortController();
  const blocks: (number | null)[] = [];
  const url = `http://127.0.0.1:${proxy.port}${pathname}/stream?pools=${world.names.join(',')},${NO_POOL}`;
  const following = follow(url, held, (block) => blocks.push(block), stop.signal);
  const holds = async (price: number) => {
    await movePrice(world, world.pools[0], price);
    const block = await world.blockNow();
    await expect.poll(() => blocks.at(-1), WAIT).toBeGreaterThanOrEqual(block);
    expect([...held.keys()].sort()).toEqual([...world.names].sort());
    for (const pool of world.names) {
      expect(withoutTime(held.get(pool)?.quote)).toEqual(withoutTime(await world.restQuote(pool)));
    }
  };
  await holds(1_950);
  proxy.cut();
  await expect.poll(() => blocks.at(-1), WAIT).toBeNull();
  await holds(1_960);
  proxy.silence();
  await expect.poll(() => blocks.at(-1), WAIT).toBeNull();
  await holds(1_970);
  stop.abort();
  await following;
  await proxy.stop();
});
