import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import type { LiveSourceConfig } from '../../config/live-schema.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Frame } from './frame.ts';
import { builderText, relayerPush, relayerResult } from './frames.fixture.ts';
import { type LiveServer, recordingLogger, startLiveServer } from './live-server.fixture.ts';
import { LiveSource, type LiveSourceOptions } from './live-source.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function serverOf(...args: Parameters<typeof startLiveServer>): Promise<LiveServer> {
  const server = await startLiveServer(...args);
  stops.push(server.stop);
  return server;
}

/** A source, with the block numbers of its frames and the faults that it counted. */
function sourceOf(config: Partial<LiveSourceConfig>, options: Partial<LiveSourceOptions> = {}) {
  const frames: Frame[] = [];
  const faults: string[] = [];
  const { logger, lines } = recordingLogger();
  const source = new LiveSource({
    chainId: 1,
    config: { kind: 'builder-overrides', wsUrls: [], rpcUrls: [], ...config },
    onFrame: (frame) => frames.push(frame) > 0,
    count: (fault) => faults.push(fault),
    logger,
    ...options,
  });
  stops.push(() => source.close());
  const numbers = () => frames.map(({ blockNumber }) => Number(blockNumber));
  return { source, frames, numbers, faults, lines };
}

const venues: Frame['venues'] = new Map([
  [
    `0x${'e7'.repeat(20)}` as Address,
    new Map([
      [`0x${'28'.repeat(20)}` as Address, new Map([[`0x${'1'.repeat(64)}` as Hex, `0x${'2'.repeat(64)}` as Hex]])],
    ]),
  ],
]);
const builder = (number: number) => builderText(BigInt(number), venues);
const answerWith = (result: string) => (response: Parameters<LiveServer['answer']>[0]) =>
  response.end(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
/** More accounts than a frame may have, in less than 1 MiB. */
const manyAccounts = `{"blockNumber":5,"0x${'e7'.repeat(20)}":{"stateOverride":{${Array.from(
  { length: 10_000 },
  (_, n) => `"0x${String(n).padStart(40, '0')}":{"stateDiff":{"0x1":"0x1"}}`,
).join()}}}}`;

test('the first frame comes over HTTP, further ones by socket, and over HTTP again once the socket is silent', async () => {
  const server = await serverOf();
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
  const server = await serverOf();
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
  const [stale, live] = [await serverOf(), await serverOf()];
  stale.answer = answerWith(builder(5));
  const isUsed = ({ blockNumber }: Frame) => blockNumber > 5n;
  sourceOf({ wsUrls: [stale.wsUrl], rpcUrls: [stale.rpcUrl] }, { onFrame: isUsed });
  sourceOf({ wsUrls: [live.wsUrl] }, { onFrame: isUsed });
  const pushes = setInterval(() => {
    stale.push(builder(4));
    live.push(builder(6));
  }, 200);
  stops.push(() => clearInterval(pushes));
  await vi.waitUntil(() => stale.connections.length === 2, { timeout: 10_000 });
  expect(stale.requests.length).toBeGreaterThan(5);
  expect(live.connections.length).toBe(1);
});

test('malformed and oversized messages are counted and dropped, and the connection stays', async () => {
  const server = await serverOf();
  const { numbers, faults } = sourceOf({ wsUrls: [server.wsUrl] });
  await vi.waitUntil(() => server.openSockets() === 1);
  const bad = ['<html>', '', '[]', Buffer.from([0xff, 0x00, 0xfe]), '{"blockNumber":"soon"}', manyAccounts];
  for (const message of bad) server.push(message);
  server.push('{"id":1,"error":{"code":1,"message":"no"}}');
  server.push(builder(3).padEnd(1_048_576));
  server.push(builder(4));
  await vi.waitUntil(() => numbers().length === 2);
  expect(numbers()).toEqual([3, 4]);
  expect(faults).toEqual(['malformed', 'malformed', 'malformed', 'malformed', 'malformed', 'oversized', 'refused']);
  expect(server.connections.length).toBe(1);
});

test('a message beyond 1 MiB ends the connection, which is dialled again', async () => {
  const server = await serverOf();
  const { numbers, faults } = sourceOf({ wsUrls: [server.wsUrl] });
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(3).padEnd(1_048_577));
  await vi.waitUntil(() => server.connections.length === 2, { timeout: 5_000 });
  server.push(builder(4));
  await vi.waitUntil(() => numbers().length === 1);
  expect([numbers(), faults]).toEqual([[4], ['unreachable']]);
});

test.each([
  ['malformed', answerWith('{}')],
  ['malformed', answerWith('"0x1"')],
  ['oversized', answerWith(manyAccounts)],
  ['oversized', answerWith(builder(5).padEnd(1_048_576))],
  ['oversized', answerWith(builder(5).padEnd(11 * 1_048_576))],
  ['refused', (response) => response.end('{"error":{"code":-32601,"message":"no such method"}}')],
  ['refused', (response) => response.writeHead(302, { location: '/' }).end()],
  ['unreachable', (response) => response.destroy()],
  ['timeout', () => undefined],
] satisfies [string, LiveServer['answer']][])(
  'a response that is %s is counted, and the next URL is requested',
  async (fault, answer) => {
    const [bad, good] = [await serverOf(), await serverOf()];
    bad.answer = answer;
    good.answer = answerWith(builder(5));
    const { numbers, faults } = sourceOf({ rpcUrls: [bad.rpcUrl, good.rpcUrl] });
    await vi.waitUntil(() => numbers().length > 0, { timeout: 5_000 });
    expect(faults).toEqual([fault]);
  },
);

test('a URL that fails three times in a row is requested less often', async () => {
  const server = await serverOf();
  const { faults } = sourceOf({ rpcUrls: [server.rpcUrl] });
  await vi.waitUntil(() => faults.length === 5, { timeout: 10_000 });
  const [, , third = 0, fourth = 0, fifth = 0] = server.requests.map(({ at }) => at);
  expect(fourth - third).toBeGreaterThan(450);
  expect(fifth - fourth).toBeGreaterThan(950);
});

test.each([
  ['builder-overrides', 'authorization'],
  ['relayer', 'x-api-key'],
] as const)('a key of %s is sent as %s and never logged; with a wrong one nothing is used', async (kind, header) => {
  const text = kind === 'relayer' ? stringifyJson(relayerResult(5n, venues)) : builder(5);
  const server = await serverOf((headers) => headers[header] === 'right-key');
  server.answer = answerWith(text);
  const config = { kind, wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] };
  const wrong = sourceOf(config, { apiKey: 'wrong-key' });
  await vi.waitUntil(() => wrong.faults.includes('refused') && wrong.faults.includes('unreachable'), {
    timeout: 5_000,
  });
  wrong.source.close();
  const right = sourceOf(config, { apiKey: 'right-key' });
  await vi.waitUntil(() => right.frames.length > 0 && server.openSockets() === 1);
  server.push(text);
  await vi.waitUntil(() => right.frames.length > 1);
  expect([wrong.frames, right.faults]).toEqual([[], []]);
  const logged = [...wrong.lines, ...right.lines].join('');
  expect(logged).toContain('127.0.0.1');
  expect(logged).not.toMatch(/(wrong|right)-key|hidden-path/);
});

test('a response that a push overtook is dropped', async () => {
  const server = await serverOf();
  const responses: Parameters<LiveServer['answer']>[0][] = [];
  server.answer = (response) => responses.push(response);
  const { numbers } = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  await vi.waitUntil(() => responses.length === 1 && server.openSockets() === 1);
  server.push(builder(8));
  await vi.waitUntil(() => numbers().length === 1);
  for (const response of responses) answerWith(builder(7))(response);
  await sleep(200);
  expect(numbers()).toEqual([8]);
});

test('a closed source leaves no socket and calls nothing, also while it connects and requests', async () => {
  const server = await serverOf();
  server.answer = () => undefined;
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
});
