import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pass, passUntil, stopTime, until } from '../test/harness/stopped-time.ts';
import { LiveSocket } from './live-socket.ts';
import { createLogger } from './logger.ts';

/** A posting `LiveSocket` to a server of the test, and what both saw. */
async function connect(respond: (body: string, response: ServerResponse, request: IncomingMessage) => unknown) {
  const server = createServer(async (request, response) => respond(await text(request), response, request));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const seen = { openedAt: [] as number[], ended: 0, messages: [] as string[] };
  const socket = new LiveSocket({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: { 'x-api-key': 'secret' },
    isPosting: true,
    minPauseMs: 100,
    maxPauseMs: 200,
    pingMs: 20,
    onOpen: () => seen.openedAt.push(performance.now()),
    onMessage: (data) => seen.messages.push(data.toString()),
    onEnd: () => {
      seen.ended += 1;
    },
    logger: createLogger('test', 'silent'),
  });
  onTestFinished(() => {
    socket.close();
    server.closeAllConnections();
    server.close();
  });
  await until(() => socket.isOpen);
  return { socket, seen };
}

test('each message is a request with the headers, and its response a message, in whatever order', async () => {
  stopTime();
  const held: (() => void)[] = [];
  const { socket, seen } = await connect((body, response, { method, headers }) => {
    held.push(() => response.end(`${method} ${headers['x-api-key']} ${body}`));
    if (held.length === 3) for (const release of held.toReversed()) release();
  });
  for (const body of ['a', 'b', 'c']) socket.send(body);
  await until(() => seen.messages.length === 3);
  expect(seen.messages.toSorted()).toEqual(['POST secret a', 'POST secret b', 'POST secret c']);
  // Pings need no server.
  await pass(100);
  expect([seen.openedAt.length, seen.ended, socket.isOpen]).toEqual([1, 0, true]);
});

test.each([
  ['status 400', 400, { messages: ['no'], ended: 0 }],
  ['status 401', 401, { messages: [], ended: 1 }],
  ['status 429', 429, { messages: [], ended: 1 }],
  ['status 503', 503, { messages: [], ended: 1 }],
  // The key must not follow to wherever the server points.
  ['a redirect', 307, { messages: [], ended: 1 }],
])('%s is a message or ends the connection', async (_name, status, expected) => {
  const { socket, seen } = await connect((_body, response) =>
    response.writeHead(status, { Location: 'http://127.0.0.1:1/' }).end('no'),
  );
  socket.send('a');
  await vi.waitUntil(() => seen.messages.length + seen.ended > 0);
  expect(seen).toMatchObject(expected);
});

test('failures open it again at growing distances, and abort the requests in flight', async () => {
  stopTime();
  const inFlight = { begun: 0, aborted: 0 };
  const { socket, seen } = await connect((body, response) => {
    if (body === 'fail') return response.destroy();
    inFlight.begun += 1;
    response.on('close', () => {
      inFlight.aborted += 1;
    });
  });
  for (let openings = 1; openings <= 3; openings++) {
    socket.send('hang');
    await until(() => inFlight.begun === openings);
    socket.send('fail');
    // Before their own time is up.
    await until(() => inFlight.aborted === openings && seen.ended === openings);
    if (openings < 3) await passUntil(() => seen.openedAt.length > openings, 400);
  }
  const [first = 0, second = 0, third = 0] = seen.openedAt;
  // The pause begins with the opening before.
  expect(second - first).toBeGreaterThanOrEqual(100);
  expect(third - second).toBeGreaterThanOrEqual(200);
  expect(seen.messages).toEqual([]);
});

test('a closed one calls nothing, whatever comes of its requests', async () => {
  stopTime();
  const begun: ServerResponse[] = [];
  const { socket, seen } = await connect((_body, response) => begun.push(response));
  socket.send('a');
  await until(() => begun.length === 1);
  socket.close();
  await until(() => begun[0]?.closed === true);
  await pass(300);
  expect([seen.openedAt.length, seen.ended, seen.messages.length, socket.isOpen]).toEqual([1, 0, 0, false]);
  expect(vi.getTimerCount()).toBe(0);
});
