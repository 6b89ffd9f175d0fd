import { expect, test, vi } from 'vitest';
import { pass, passUntil, stopTime, until } from '../../test/harness/stopped-time.ts';
import type { Frame } from './frame.ts';
import { BOUNDS } from './frame.ts';
import { relayerPush, relayerResult } from './frames.fixture.ts';
import { startLiveServer } from './live-server.fixture.ts';
import { answerWith, builder, manyAccounts, sourceOf, venues } from './live-source.fixture.ts';

test('the first frame comes over HTTP, further ones by socket, and over HTTP again once the socket is silent', async () => {
  stopTime();
  const server = await startLiveServer();
  server.answer = answerWith(builder(7));
  const { frames, numbers, faults } = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  await until(() => frames.length > 0 && server.openSockets() === 1);
  expect(frames[0]).toEqual({ blockNumber: 7n, timestamp: null, venues, isComplete: false });
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
    method: 'titan_getPammStateOverrides',
    params: [],
  });
  for (let n = 0; n < 15; n += 1) {
    const taken = frames.length;
    server.push(builder(8 + n));
    await until(() => frames.length > taken);
    if (n < 14) await pass(n < 13 ? 100 : 201);
  }
  expect(numbers()).toEqual(Array.from({ length: 16 }, (_, n) => 7 + n));
  // 999 ms after the last push.
  await pass(999);
  expect(server.requests.length).toBe(1);
  for (let requests = 2; requests <= 4; requests += 1) {
    await pass(500);
    await until(() => frames.length === 15 + requests);
  }
  expect(server.requests.map(({ at }) => at)).toEqual([0, 3_000, 3_500, 4_000]);
  expect([numbers().at(-1), faults]).toEqual([7, []]);
});

test('a silent socket is dialled again after 5 s, and a relayer is subscribed to after each open', async () => {
  stopTime();
  const server = await startLiveServer();
  const { numbers, frames, faults } = sourceOf({ kind: 'relayer', wsUrls: [server.wsUrl] });
  await until(() => server.messages.length === 1);
  const subscription = { method: 'pamm_subscribe', params: ['subscribeNewQuotesV1', { routers: [] }] };
  expect(JSON.parse(server.messages[0] ?? '')).toMatchObject(subscription);
  server.push('{"jsonrpc":"2.0","id":1,"result":"0x9"}');
  await pass(4_999);
  expect([faults, server.connections.length]).toEqual([[], 1]);
  await pass(1);
  await until(() => faults.length === 1);
  await pass(1);
  await until(() => server.messages.length === 2);
  server.push(relayerPush(relayerResult(7n, venues)));
  await until(() => frames.length === 1);
  expect(frames[0]).toEqual({ blockNumber: 7n, timestamp: null, venues, isComplete: true });
  server.cut();
  await until(() => faults.length === 2);
  // The pause has doubled, and a fifth of it is random.
  await pass(1_200);
  await until(() => server.messages.length === 3);
  server.push(relayerPush(relayerResult(8n, venues)));
  await until(() => frames.length === 2);
  expect([numbers(), faults]).toEqual([
    [7, 8],
    ['unreachable', 'unreachable'],
  ]);
});

test('a socket whose frames are not used counts as silent, one with used frames does not', async () => {
  stopTime();
  const [stale, live] = [await startLiveServer(), await startLiveServer()];
  stale.answer = answerWith(builder(5));
  let taken = 0;
  const isUsed = ({ blockNumber }: Frame) => {
    taken += 1;
    return blockNumber > 5n;
  };
  const { faults } = sourceOf({ wsUrls: [stale.wsUrl], rpcUrls: [stale.rpcUrl] }, { onFrame: isUsed });
  sourceOf({ wsUrls: [live.wsUrl] }, { onFrame: isUsed });
  await until(() => stale.openSockets() === 1 && live.openSockets() === 1 && taken === 1);
  for (let ms = 0; ms < 5_000; ms += 200) {
    const before = taken;
    stale.push(builder(4));
    live.push(builder(6));
    await until(() => taken >= before + 2);
    expect(faults).toEqual([]);
    await pass(200);
  }
  await until(() => faults.length === 1);
  await pass(1);
  await until(() => stale.connections.length === 2);
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
  stopTime();
  const server = await startLiveServer();
  const { numbers, faults } = sourceOf({ wsUrls: [server.wsUrl] });
  await until(() => server.openSockets() === 1);
  server.push(builder(3).padEnd(1_048_577));
  await passUntil(() => server.connections.length === 2, 1_000);
  server.push(builder(4));
  await until(() => numbers().length === 1);
  expect([numbers(), faults]).toEqual([[4], ['unreachable']]);
});

test('a closed source leaves no socket and calls nothing, also while it connects and requests', async () => {
  stopTime();
  const server = await startLiveServer();
  let ended = 0;
  server.answer = (response) =>
    response.on('close', () => {
      ended += 1;
    });
  const early = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  early.source.close();
  const { source, frames, faults } = sourceOf({ wsUrls: [server.wsUrl, 'ws://127.0.0.1:1'], rpcUrls: [server.rpcUrl] });
  await until(() => server.openSockets() === 1 && server.requests.length > 0 && faults.length > 0);
  const counted = faults.length;
  source.close();
  server.push(builder(8));
  // No request waits for its time limit, and no timer is left that could open anything.
  await until(() => server.openSockets() === 0 && ended === server.requests.length);
  expect(vi.getTimerCount()).toBe(0);
  expect([frames, faults.length, early.faults, server.openSockets()]).toEqual([[], counted, [], 0]);
});
