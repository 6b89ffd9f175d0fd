import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { retryAfterMs, sendRequest } from './http-request.ts';

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
