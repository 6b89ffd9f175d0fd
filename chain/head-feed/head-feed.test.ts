import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { passUntil, stopTime, until } from '../../test/harness/stopped-time.ts';
import { HeadFeed } from './head-feed.ts';
import { startTestNode, type TestNode } from './test-node.fixture.ts';

const CHAIN = 31337;
const logger = createLogger('test', 'silent');
/** Nodes have every block. */
const HEADER = { number: 1n, hash: '0x1', timestamp: 0n, parents: [] } as const;
const stops: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function nodeOf(chainId = CHAIN): Promise<TestNode> {
  const node = await startTestNode(chainId);
  stops.push(node.stop);
  return node;
}

function feedOf(wsUrls: readonly string[], blockTimeMs = 1_000) {
  const calls: string[] = [];
  const checked: number[] = [];
  const clock = { ms: 0 };
  const count = (method: string, outcome: string) => calls.push(`${method} ${outcome}`);
  const feed = new HeadFeed({
    chainId: CHAIN,
    blockTimeMs,
    wsUrls,
    count,
    rpc: {
      header: async (hash) => {
        checked.push(Number(hash));
        return HEADER;
      },
    },
    logger,
    now: () => clock.ms,
    wallClock: Date.now,
  });
  stops.push(() => feed.close());
  const heads: string[] = [];
  feed.onHead(({ block, header }) => heads.push(`${block.number} ${header.logsBloom}`));
  return { feed, heads, calls, checked, clock };
}

test('heads of several nodes come once, with all of their header, and the feed is live for two block times', async () => {
  const [one, other] = [await nodeOf(), await nodeOf()];
  const { feed, heads, calls, clock } = feedOf([one.url, other.url]);
  expect(feed.isLive).toBe(false);
  await vi.waitUntil(() => one.subscribers() === 1 && other.subscribers() === 1);
  one.pushHead(1);
  other.pushHead(1);
  other.pushHead(2);
  await vi.waitUntil(() => heads.length === 2);
  one.pushHead(2);
  one.pushHead(3);
  await vi.waitUntil(() => heads.length === 3);
  expect(heads).toEqual(['1 0xb100', '2 0xb100', '3 0xb100']);
  expect(calls.sort()).toEqual(['eth_chainId ok', 'eth_chainId ok', 'eth_subscribe ok', 'eth_subscribe ok']);
  clock.ms = 1_999;
  expect(feed.isLive).toBe(true);
  clock.ms = 2_000;
  expect(feed.isLive).toBe(false);
});

test('heads of a node that still loads the chain, or lags behind what was looked up, are none', async () => {
  const node = await nodeOf();
  const { feed, heads } = feedOf([node.url]);
  await vi.waitUntil(() => node.subscribers() === 1);
  node.pushHead(1, 31);
  feed.note({ number: 5n, hash: '0x5', timestamp: 0n });
  for (const number of [3, 4]) node.pushHead(number);
  node.pushHead(6);
  await vi.waitUntil(() => heads.length > 0);
  expect([heads, feed.isLive]).toEqual([['6 0xb100'], true]);
});

test('a node of another chain is refused', async () => {
  const node = await nodeOf(1);
  const { heads, calls } = feedOf([node.url]);
  await vi.waitUntil(() => calls.length > 0);
  expect(calls).toEqual(['eth_chainId wrong_chain']);
  expect([heads, node.subscribers()]).toEqual([[], 0]);
});

test.each([
  ['an error instead of a subscription', 'refuse', 'eth_subscribe refused'],
  ['no JSON', 'babble', 'eth_chainId refused'],
] as const)('a node that answers with %s is left and asked again', async (_name, fault, call) => {
  stopTime();
  const node = await nodeOf();
  node.faults.add(fault);
  const { heads, calls } = feedOf([node.url]);
  await until(() => calls.includes(call));
  node.faults.clear();
  await passUntil(() => node.subscribers() === 1, 1_000);
  node.pushHead(7);
  await until(() => heads.length === 1);
});

test('a socket that is closed is opened again, after pauses that grow while it ends soon', async () => {
  stopTime();
  const node = await nodeOf();
  const { heads, checked } = feedOf([node.url]);
  await until(() => node.subscribers() === 1);
  for (const number of [1, 2, 3, 4]) {
    node.pushHead(number);
    await until(() => heads.length === number);
  }
  const pauses: number[] = [];
  for (let ends = 0; ends < 3; ends += 1) {
    const since = performance.now();
    node.cut();
    await until(() => node.subscribers() === 0);
    await passUntil(() => node.subscribers() === 1, 3_000);
    pauses.push(performance.now() - since);
  }
  for (const [at, ms] of [500, 1_000, 2_000].entries()) {
    expect(pauses[at]).toBeGreaterThanOrEqual(ms - 10);
    expect(pauses[at]).toBeLessThanOrEqual(1.2 * ms + 30);
  }
  node.pushHead(5);
  await until(() => heads.length === 5);
  expect(checked).toEqual([1, 2, 5]);
});

test('a closed feed leaves no socket and no timer, not even one that still connects', async () => {
  stopTime();
  const node = await nodeOf();
  const mute = await startMuteServer();
  const { feed, heads } = feedOf([node.url, mute.url, 'ws://127.0.0.1:1']);
  await until(() => node.subscribers() === 1 && mute.connections() === 1);
  feed.close();
  await until(() => node.subscribers() === 0 && mute.connections() === 0);
  expect(vi.getTimerCount()).toBe(0);
  node.pushHead(1);
  expect([heads, feed.isLive]).toEqual([[], false]);
});

/** Takes connections and never says a word. */
async function startMuteServer() {
  const server: Server = createServer((socket) => socket.on('error', () => undefined).resume());
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => {
      open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => open };
}
