import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { movePrice } from '../quotes/quote-world.ts';
import { documentClient, type Held } from './document-client.ts';
import { withoutTime } from './stream-world.ts';
import { rejectedUpgrade } from './ws-client.ts';
import { isUpToDate, KEY, NO_POOL, urlOf, WAIT, webSocketWorld } from './ws-world.ts';

const { world, another, open } = webSocketWorld();

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
  const resumes = async () =>
    (await world.api.metrics.getSingleMetric('stream_resumes_total')?.get())?.values[0]?.value ?? 0;
  const resumed = await resumes();
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
  expect(await resumes()).toBe(resumed + 1);
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
