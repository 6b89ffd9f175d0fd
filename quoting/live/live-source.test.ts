import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Frame } from './frame.ts';
import { BOUNDS } from './frame.ts';
import { relayerPush, relayerResult } from './frames.fixture.ts';
import { startLiveServer } from './live-server.fixture.ts';
import { answerWith, builder, manyAccounts, sourceOf, venues } from './live-source.fixture.ts';

test('the first frame comes over HTTP, further ones by socket, and over HTTP again once the socket is silent', async () => {
  const server = await startLiveServer();
  server.answer = answerWith(builder(7));
  const { frames, numbers, faults } = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  await vi.waitUntil(() => frames.length > 0 && server.openSockets() === 1);
  expect(frames[0]).toEqual({ blockNumber: 7n, timestamp: null, venues, isComplete: false });
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
    method: 'titan_getPammStateOverrides',
    params: [],
  });
  server.push(builder(8));
  await vi.waitUntil(() => numbers().includes(8));
  // A request that was in flight may arrive after the push.
  await sleep(100);
  const polled = server.requests.length;
  for (let n = 0; n < 15; n += 1) {
    await sleep(100);
    server.push(builder(9));
  }
  expect(server.requests.length).toBe(polled);
  const quietSince = performance.now();
  await vi.waitUntil(() => server.requests.length >= polled + 3, { timeout: 5_000 });
  const [first = 0, , third = 0] = server.requests.slice(polled).map(({ at }) => at);
  // The last push may have come up to a few milliseconds after its sending was noted.
  expect(first - quietSince).toBeGreaterThan(950);
  expect(third - first).toBeGreaterThan(950);
  expect([numbers().at(-1), faults]).toEqual([7, []]);
});

test('a silent socket is dialled again after 5 s, and a relayer is subscribed to after each open', async () => {
  const server = await startLiveServer();
  const { numbers, frames, faults } = sourceOf({ kind: 'relayer', wsUrls: [server.wsUrl] });
  await vi.waitUntil(() => server.messages.length === 1);
  const subscription = { method: 'pamm_subscribe', params: ['subscribeNewQuotesV1', { routers: [] }] };
  expect(JSON.parse(server.messages[0] ?? '')).toMatchObject(subscription);
  server.push('{"jsonrpc":"2.0","id":1,"result":"0x9"}');
  await vi.waitUntil(() => server.messages.length === 2, { timeout: 10_000 });
  const [first = 0, second = 0] = server.connections;
  expect(second - first).toBeGreaterThan(4_900);
  server.push(relayerPush(relayerResult(7n, venues)));
  await vi.waitUntil(() => frames.length === 1);
  expect(frames[0]).toEqual({ blockNumber: 7n, timestamp: null, venues, isComplete: true });
  server.cut();
  await vi.waitUntil(() => server.messages.length === 3, { timeout: 5_000 });
  server.push(relayerPush(relayerResult(8n, venues)));
  await vi.waitUntil(() => frames.length === 2);
  expect([numbers(), faults]).toEqual([
    [7, 8],
    ['unreachable', 'unreachable'],
  ]);
});

test('a socket whose frames are not used counts as silent, one with used frames does not', async () => {
  const [stale, live] = [await startLiveServer(), await startLiveServer()];
  stale.answer = answerWith(builder(5));
  const isUsed = ({ blockNumber }: Frame) => blockNumber > 5n;
  sourceOf({ wsUrls: [stale.wsUrl], rpcUrls: [stale.rpcUrl] }, { onFrame: isUsed });
  sourceOf({ wsUrls: [live.wsUrl] }, { onFrame: isUsed });
  const pushes = setInterval(() => {
    stale.push(builder(4));
    live.push(builder(6));
  }, 200);
  onTestFinished(() => clearInterval(pushes));
  await vi.waitUntil(() => stale.connections.length === 2, { timeout: 10_000 });
  expect(stale.requests.length).toBeGreaterThan(5);
  expect(live.connections.length).toBe(1);
});

test('malformed and oversized messages are counted and dropped, and the connection stays', async () => {
  const server = await startLiveServer();
  const { numbers, faults } = sourceOf({ wsUrls: [server.wsUrl] });
  await vi.waitUntil(() => server.openSockets() === 1);
  const bad = ['<html>', '', '[]', Buffer.from([0xff, 0x00, 0xfe]), '{"blockNumber":"soon"}', manyAccounts];
  for (const message of bad) server.push(message);
  server.push('{"id":1,"error":{"code":1,"message":"no"}}');
  server.push(builder(3).padEnd(BOUNDS.bytes));
  server.push(builder(4));
  await vi.waitUntil(() => numbers().length === 2);
  expect(numbers()).toEqual([3, 4]);
  expect(faults).toEqual(['malformed', 'malformed', 'malformed', 'malformed', 'malformed', 'oversized', 'refused']);
  expect(server.connections.length).toBe(1);
});

test('a message beyond 1 MiB ends the connection, which is dialled again', async () => {
  const server = await startLiveServer();
  const { numbers, faults } = sourceOf({ wsUrls: [server.wsUrl] });
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(3).padEnd(1_048_577));
  await vi.waitUntil(() => server.connections.length === 2, { timeout: 5_000 });
  server.push(builder(4));
  await vi.waitUntil(() => numbers().length === 1);
  expect([numbers(), faults]).toEqual([[4], ['unreachable']]);
});

test('a closed source leaves no socket and calls nothing, also while it connects and requests', async () => {
  const server = await startLiveServer();
  let ended = 0;
  server.answer = (response) =>
    response.on('close', () => {
      ended += 1;
    });
  const early = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  early.source.close();
  const { source, frames, faults } = sourceOf({ wsUrls: [server.wsUrl, 'ws://127.0.0.1:1'], rpcUrls: [server.rpcUrl] });
  await vi.waitUntil(() => server.openSockets() === 1 && server.requests.length > 0 && faults.length > 0);
  const counted = faults.length;
  source.close();
  server.push(builder(8));
  await vi.waitUntil(() => server.openSockets() === 0);
  await sleep(1_000);
  expect([frames, faults.length, early.faults, server.openSockets()]).toEqual([[], counted, [], 0]);
  // No request waits for its time limit.
  expect(ended).toBe(server.requests.length);
});
