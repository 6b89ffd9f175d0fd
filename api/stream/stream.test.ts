import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sseTransport } from './stream.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a connection of events gets a comment after two to four seconds without one, and none once it is closed', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const opened = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [, outgoing] = await opened;
  const transport = sseTransport(outgoing);
  outgoing.flushHeaders();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const received = async () => String((await once(response, 'data'))[0]);
  vi.advanceTimersByTime(4_000);
  expect(await received()).toBe(':\n\n');
  transport.send('heartbeat', 'a', '{}');
  expect(await received()).toBe('event: heartbeat\nid: a\ndata: {}\n\n');
  vi.advanceTimersByTime(2_000);
  transport.send('heartbeat', 'b', '{}');
  expect(await received()).toBe('event: heartbeat\nid: b\ndata: {}\n\n');
  const closed = once(outgoing, 'close');
  request.destroy();
  await closed;
  expect(vi.getTimerCount()).toBe(0);
  server.close();
});
