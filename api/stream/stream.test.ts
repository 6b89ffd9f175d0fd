import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { connectSse } from '../../test/stream/sse-client.ts';
import { sseTransport } from './stream.ts';

beforeEach(stopTime);

/** A server on a free port. @returns its address, and what stops it */
async function serve(onRequest: RequestListener) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, stop: () => server.close() };
}

/** A transport over a connection, and what its client receives. */
async function openTransport() {
  const opened = Promise.withResolvers<ServerResponse>();
  const { url, stop } = await serve((_, outgoing) => opened.resolve(outgoing));
  const request = get(url);
  const outgoing = await opened.promise;
  const transport = sseTransport(outgoing);
  outgoing.flushHeaders();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const received = async () => String((await once(response, 'data'))[0]);
  const leave = async () => {
    const closed = once(outgoing, 'close');
    request.destroy();
    await closed;
    stop();
  };
  return { transport, received, leave };
}

test('a connection of events gets a comment after two to four seconds without one, and none once it is closed', async () => {
  const { transport, received, leave } = await openTransport();
  vi.advanceTimersByTime(4_000);
  expect(await received()).toBe(':\n');
  transport.send('heartbeat', 'a', '{}');
  expect(await received()).toBe('event: heartbeat\nid: a\ndata: {}\n\n');
  vi.advanceTimersByTime(2_000);
  transport.send('heartbeat', 'b', '{}');
  expect(await received()).toBe('event: heartbeat\nid: b\ndata: {}\n\n');
  await leave();
  expect(vi.getTimerCount()).toBe(0);
});

test('a connection whose client left before it began keeps no timer', async () => {
  const left = Promise.withResolvers<ServerResponse>();
  const { url, stop } = await serve((_, outgoing) => outgoing.once('close', () => left.resolve(outgoing)).destroy());
  get(url).on('error', () => undefined);
  const outgoing = await left.promise;
  sseTransport(outgoing);
  expect(vi.getTimerCount()).toBe(0);
  stop();
});

test('a client that reads nothing before the end of its stream is left after half a minute', async () => {
  const opened = Promise.withResolvers<ServerResponse>();
  const { url, stop } = await serve((_, outgoing) => opened.resolve(outgoing));
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const outgoing = await opened.promise;
  const transport = sseTransport(outgoing);
  const data = JSON.stringify('x'.repeat(64 * 1024));
  while (transport.unsentBytes < 256 * 1024) {
    transport.send('update', 'a', data);
    await new Promise(setImmediate);
  }
  transport.end();
  await pass(29_000);
  expect(outgoing.destroyed).toBe(false);
  await pass(1_000);
  expect([outgoing.destroyed, vi.getTimerCount()]).toEqual([true, 0]);
  socket.destroy();
  stop();
});

/** How released clients read events: each part between empty lines is one, and has data. */
const parsedByReleases = (text: string): readonly unknown[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((part) => {
      const fields = Object.fromEntries(
        part.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]),
      );
      return { ...JSON.parse(fields.data), event: fields.event, id: fields.id };
    });

test('released clients take each event, also after comments', async () => {
  const { transport, received, leave } = await openTransport();
  let text = '';
  for (const seconds of [0, 4, 10]) {
    for (let second = 0; second < seconds; second += 2) {
      vi.advanceTimersByTime(2_000);
      if (second > 0) text += await received();
    }
    transport.send('heartbeat', String(seconds), `{"seq":${seconds}}`);
    text += await received();
  }
  expect(text.match(/^:/gm)).toHaveLength(5);
  expect(parsedByReleases(text)).toEqual([0, 4, 10].map((seq) => ({ seq, event: 'heartbeat', id: String(seq) })));
  await leave();
});

test('the client of tests takes each event, also after comments', async () => {
  const opened = Promise.withResolvers<ServerResponse>();
  const { url, stop } = await serve((_, outgoing) => opened.resolve(outgoing));
  const connecting = connectSse(url);
  const outgoing = await opened.promise;
  const transport = sseTransport(outgoing);
  outgoing.flushHeaders();
  const client = await connecting;
  for (const seq of [1, 2, 3]) {
    vi.advanceTimersByTime(4_000);
    const head = {
      seq,
      prevSeq: seq === 1 ? null : seq - 1,
      chainId: 1,
      blockNumber: seq,
      blockTimestamp: 0,
      serverTs: 0,
    };
    transport.send('heartbeat', `id-${seq}`, JSON.stringify({ ...head, blockHash: `0x${'00'.repeat(32)}` }));
  }
  transport.end();
  await client.ended;
  expect(client.messages.map(({ id }) => id)).toEqual(['id-1', 'id-2', 'id-3']);
  stop();
});
