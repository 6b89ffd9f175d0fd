import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { retryAfterMs, sendRequest } from './http-request.ts';
import { standStill } from './stand-still.fixture.ts';

test.each([
  [200, 10 * 1024 * 1024, true],
  [500, 1_000, true],
  [200, 10 * 1024 * 1024 + 1, false],
  [500, 40 * 1024 * 1024, false],
])('a packed response with status %d of %d bytes is read: %j', async (status, length, isRead) => {
  const packed = gzipSync(Buffer.alloc(length, 'x'));
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-encoding': 'gzip' }).end(packed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = sendRequest(`http://127.0.0.1:${port}`, { timeoutMs: 10_000 });
  if (isRead) expect([(await answer).status, (await answer).text.length]).toEqual([status, length]);
  else await expect(answer).rejects.toMatchObject({ code: 'too_large' });
  server.closeAllConnections();
  server.close();
});

const SERVER = `const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  if (request.url === '/ended') request.socket.destroy();
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 20);
  else response.end(String(requests));
}).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
parentPort.on('message', () => {
  server.closeAllConnections();
  Atomics.store(workerData, 0, 1);
  Atomics.notify(workerData, 0);
});`;

/** A server with a thread of its own: it does not stand still with this one. */
async function startThread() {
  const isClosed = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(SERVER, { eval: true, workerData: isClosed });
  onTestFinished(async () => void (await thread.terminate()));
  const [port] = (await once(thread, 'message')) as [number];
  const closeConnections = () => {
    thread.postMessage('close');
    // This one stands still meanwhile: it does not learn that the connections are closed.
    Atomics.wait(isClosed, 0, 0);
  };
  return { url: `http://127.0.0.1:${port}`, closeConnections };
}

test.each([true, false])(
  'a process that stood still finds its connections closed: it sends again what may be repeated (%j)',
  async (isRepeatable) => {
    const { url, closeConnections } = await startThread();
    const send = () => sendRequest(url, { body: '{}', timeoutMs: 10_000, isRepeatable });
    await Promise.all(Array.from({ length: 5 }, send));
    closeConnections();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, send));
    const statuses = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.status : outcome.reason.code,
    );
    expect(statuses.filter((status) => status !== 200 && (isRepeatable || status !== 'unreachable'))).toEqual([]);
  },
);

test('the time in which a process stood still is none that the server took', async () => {
  const { url } = await startThread();
  const slow = sendRequest(`${url}/slow`, { timeoutMs: 500 });
  standStill(1_000);
  expect((await slow).text).toBe('slow');
});

test('a request whose connections always end is sent twice', async () => {
  const { url } = await startThread();
  const ended = sendRequest(`${url}/ended`, { body: '{}', timeoutMs: 10_000, isRepeatable: true });
  await expect(ended).rejects.toMatchObject({ code: 'unreachable' });
  expect((await sendRequest(url, { timeoutMs: 10_000 })).text).toBe('3');
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['1.5', 1_500],
  [new Date(1_800_000_010_000).toUTCString(), 10_000],
  [new Date(1_700_000_000_000).toUTCString(), undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
])('Retry-After: %j is a wait of %j ms', (header, expected) => {
  expect(retryAfterMs({ 'retry-after': header }, 1_800_000_000_000)).toBe(expected);
});
