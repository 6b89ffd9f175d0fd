import { expect, test, vi } from 'vitest';
import { stringifyJson } from '../../runtime/json.ts';
import { pass, stopTime, until } from '../../test/harness/stopped-time.ts';
import { relayerResult } from './frames.fixture.ts';
import { type LiveServer, startLiveServer } from './live-server.fixture.ts';
import { answerWith, builder, manyAccounts, sourceOf, venues } from './live-source.fixture.ts';

test.each([
  ['empty', 'malformed', answerWith('{}')],
  ['a text', 'malformed', answerWith('"0x1"')],
  ['of 10,000 accounts', 'oversized', answerWith(manyAccounts)],
  ['of more than 1 MiB', 'oversized', answerWith(builder(5).padEnd(1_048_576))],
  ['of more than 10 MiB', 'oversized', answerWith(builder(5).padEnd(11 * 1_048_576))],
  [
    'an error of JSON-RPC',
    'refused',
    (response) => response.end('{"error":{"code":-32601,"message":"no such method"}}'),
  ],
  ['a redirection', 'refused', (response) => response.writeHead(302, { location: '/' }).end()],
  ['cut', 'unreachable', (response) => response.destroy()],
  ['missing', 'timeout', () => undefined],
] satisfies [string, string, LiveServer['answer']][])(
  'a response that is %s counts as %s, and the next URL is requested',
  async (_what, fault, answer) => {
    stopTime();
    const [bad, good] = [await startLiveServer(), await startLiveServer()];
    bad.answer = answer;
    good.answer = answerWith(builder(5));
    const { numbers, faults } = sourceOf({ rpcUrls: [bad.rpcUrl, good.rpcUrl] });
    await until(() => bad.requests.length === 1);
    if (fault === 'timeout') await pass(2_000);
    await until(() => numbers().length > 0);
    expect(faults).toEqual([fault]);
  },
);

test('a URL that fails three times in a row is requested less often', async () => {
  stopTime();
  const server = await startLiveServer();
  const { faults } = sourceOf({ rpcUrls: [server.rpcUrl] });
  const requestedAt: number[] = [];
  for (let ms = 0; ms <= 6_000; ms += 500) {
    await pass(ms && 500);
    await until(() => faults.length === server.requests.length);
    if (faults.length > requestedAt.length) requestedAt.push(ms);
  }
  expect(requestedAt).toEqual([0, 500, 1_000, 1_500, 2_500, 4_500]);
});

test.each([
  ['builder-overrides', 'authorization'],
  ['relayer', 'x-api-key'],
] as const)('a key of %s is sent as %s and never logged; with a wrong one nothing is used', async (kind, header) => {
  const text = kind === 'relayer' ? stringifyJson(relayerResult(5n, venues)) : builder(5);
  const server = await startLiveServer((headers) => headers[header] === 'right-key');
  server.answer = answerWith(text);
  const config = { kind, wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] };
  const wrong = sourceOf(config, { apiKey: 'wrong-key' });
  await vi.waitUntil(() => wrong.faults.includes('refused') && wrong.faults.includes('unreachable'));
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
  stopTime();
  const server = await startLiveServer();
  const responses: Parameters<LiveServer['answer']>[0][] = [];
  server.answer = (response) => responses.push(response);
  const { numbers } = sourceOf({ wsUrls: [server.wsUrl], rpcUrls: [server.rpcUrl] });
  await until(() => responses.length === 1 && server.openSockets() === 1);
  await pass(10);
  server.push(builder(8));
  await until(() => numbers().length === 1);
  for (const response of responses) answerWith(builder(7))(response);
  // The next request comes after the end of this one.
  await pass(1_000);
  await pass(500);
  await until(() => responses.length === 2);
  expect(numbers()).toEqual([8]);
});
