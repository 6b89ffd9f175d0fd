import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createRestClient } from '../../client/rest.ts';
import { HeldQuotes } from '../../client/stream/held-quotes.ts';
import { type StreamOptions, type StreamState, stream, type WebSocketConstructor } from '../../client/stream.ts';
import { openWorld } from '../harness/open-world.ts';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { movePrice } from '../quotes/quote-world.ts';
import { streamWorld, withoutTime } from '../stream/stream-world.ts';

const CHAIN_ID = 31337;
const NO_POOL = `0x${'99'.repeat(20)}`;
const WAIT = { interval: 10 };
const webSocket = WebSocket as unknown as WebSocketConstructor;
/** Finds nothing that accepts its connections. */
const refused = class extends WebSocket {
  constructor() {
    super('ws://127.0.0.1:1');
  }
} as unknown as WebSocketConstructor;

const world = streamWorld();
const behind = openWorld(async (ends) => {
  const proxy = await startTcpProxy('127.0.0.1', Number(new URL(world.api.base).port));
  ends.defer(proxy.stop);
  return { proxy, url: `http://127.0.0.1:${proxy.port}` };
});
afterEach(() => expect.poll(() => world.api.connections.size, WAIT).toBe(0));

/** Follows the pools, and keeps every state until it is stopped. */
function follow(options: Partial<StreamOptions> = {}) {
  const stop = new AbortController();
  const states: StreamState[] = [];
  const ended = (async () => {
    const all = {
      url: behind.url,
      chainId: CHAIN_ID,
      pools: world.names,
      signal: stop.signal,
      WebSocket: webSocket,
      ...options,
    };
    for await (const state of stream(all)) states.push(state);
  })();
  const isCurrent = async (from: TransportName) => {
    const block = await world.blockNow();
    const rest = createRestClient(new URL(world.api.base).origin);
    // A connection that was silent for too long holds nothing until it is open again.
    await vi.waitFor(async () => {
      const quotes = world.names.map((poolAddress) => rest.getBidAsk({ chainId: CHAIN_ID, poolAddress }));
      const expected = (await Promise.all(quotes)).map(withoutTime);
      const last = states.at(-1);
      expect(last?.block?.number ?? -1).toBeGreaterThanOrEqual(block);
      expect(last?.transport).toBe(from);
      expect(world.names.map((pool) => withoutTime(last?.quotes.get(pool)))).toEqual(expected);
    }, WAIT);
  };
  return {
    states,
    isCurrent,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}
type TransportName = StreamState['transport'];

test.each([
  ['websocket', webSocket],
  ['sse', undefined],
] as const)('over %s yields what REST says, resumes after a cut and after silence, and stops', async (name, socket) => {
  const following = follow({
    WebSocket: socket,
    pools: [...world.names.map((pool) => pool.toUpperCase().replace('0X', '0x')), NO_POOL],
    // A WebSocket is pinged: its default is short.
    silenceMs: name === 'sse' ? 2_000 : undefined,
  });
  await following.isCurrent(name);
  expect(following.states.at(-1)?.stale).toEqual(new Map([[NO_POOL, { status: 404, error: expect.any(String) }]]));
  for (const [price, disturb] of [
    [2_100, () => undefined],
    [2_200, () => behind.proxy.cut()],
    [2_300, () => behind.proxy.silence()],
  ] as const) {
    const before = following.states.length;
    disturb();
    await movePrice(world, world.pools[0], name === 'sse' ? price + 1 : price);
    if (price > 2_100) await expect.poll(() => following.states.slice(before).some(isVoid), WAIT).toBe(true);
    await following.isCurrent(name);
  }
  await following.stop();
  // The silent one is still open behind the proxy.
  behind.proxy.cut();
});

/** Whether a state tells to stop. */
const isVoid = ({ block, quotes, stale }: StreamState) => block === null && quotes.size === 0 && stale.size > 0;

test('resumed connections were not sent a snapshot', async () => {
  const { values } = (await world.api.metrics.getSingleMetric('stream_resumes_total')?.get()) ?? { values: [] };
  expect(values[0]?.value).toBeGreaterThanOrEqual(3);
});

test('falls back from a refused WebSocket to events, from refused events to batches, and reports what fails', async () => {
  const events = follow({ WebSocket: refused });
  await events.isCurrent('sse');
  await events.stop();
  let isDown = false;
  const refusing: typeof fetch = async (input, init) => {
    const isStream = String(input).includes('/stream?');
    return isStream || isDown ? new Response('{"error":"Busy"}', { status: 503 }) : fetch(input, init);
  };
  const batches = follow({ WebSocket: refused, fetch: refusing, pools: [...world.names, NO_POOL] });
  await batches.isCurrent('batch');
  expect(batches.states.at(-1)?.stale.get(NO_POOL)).toMatchObject({ status: 404 });
  isDown = true;
  await expect
    .poll(() => batches.states.at(-1)?.stale.get(world.names[0] ?? ''), WAIT)
    .toEqual({ status: null, error: 'Busy' });
  await batches.stop();
});

test.each([
  ['an unknown chain', { chainId: 7 }, 'NotFoundError'],
  ['a malformed address', { pools: ['0x12'] }, 'BadRequestError'],
  ['an invalid key', { apiKey: 'bad' }, 'UnauthorizedError'],
  ['no pools', { pools: [] }, 'RangeError'],
])('ends with the error of %s', async (_, options, name) => {
  for (const WebSocket of [webSocket, undefined]) {
    const first = stream({ url: behind.url, chainId: CHAIN_ID, pools: world.names, ...options, WebSocket });
    const iterate = async () => {
      for await (const { block } of first) expect(block).toBeNull();
    };
    await expect(iterate()).rejects.toMatchObject({ name });
  }
});

test('a valid key is used over both transports, and breaking out of the loop ends the connection', async () => {
  for (const WebSocket of [webSocket, undefined]) {
    for await (const { block } of stream({
      url: behind.url,
      chainId: CHAIN_ID,
      pools: world.names,
      apiKey: 'good',
      WebSocket,
    })) {
      if (block) break;
    }
  }
});

test('after a lost message nothing is held, and the next connection begins from scratch', () => {
  const held = new HeldQuotes(world.names, () => () => 0);
  const message = { blockNumber: 5, blockHash: '0x5', blockTimestamp: 9 };
  held.connect('sse');
  held.take({ event: 'heartbeat', id: 'a', seq: 1, prevSeq: null, ...message });
  expect([held.state().block, held.resumeId]).toEqual([{ number: 5, hash: '0x5', timestamp: 9 }, 'a']);
  const next = { event: 'heartbeat', id: 'c', seq: 3, prevSeq: 2, ...message };
  expect(() => held.take(next)).toThrow('Message 2 is missing: the last one was 1');
  expect([held.state().block, held.state().quotes.size, held.resumeId]).toEqual([null, 0, '']);
});
