import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { documentClient, type Held } from './document-client.ts';

const WAIT = { interval: 5 };
const quotesOf = (...pools: readonly string[]) => pools.map((poolAddress) => ({ poolAddress }));

interface Connection {
  readonly after: string | undefined;
  readonly response: ServerResponse;
}

/** A server that sends what the test sets. */
async function startScript(silenceMs: number) {
  const connections: Connection[] = [];
  const server = createServer((request, response) => {
    response.writeHead(200).flushHeaders();
    connections.push({ after: String(request.headers['last-event-id'] ?? ''), response });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const follow = await documentClient(silenceMs, 20);
  const [held, stop]: [Held, AbortController] = [new Map(), new AbortController()];
  const blocks: (number | null)[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const following = follow(url, held, (block) => blocks.push(block), stop.signal);
  return {
    connections,
    blocks,
    pools: () => [...held.keys()],
    next: (count: number) => vi.waitUntil(() => connections[count - 1], WAIT) as Promise<Connection>,
    stop: async () => {
      stop.abort();
      await following;
      server.close();
      server.closeAllConnections();
    },
  };
}

test('the client of docs/use/stream.md does what each message says', async () => {
  const { next, blocks, pools, stop } = await startScript(60_000);
  const { response } = await next(1);
  let seq = 0;
  const says = async (event: string, blockNumber: number, fields: object) => {
    const sentBefore = blocks.length;
    // After a comment.
    const text = `:\nevent: ${event}\nid: e-${++seq}\ndata: ${JSON.stringify({ blockNumber, ...fields })}\n\n`;
    // In pieces, as a network may bring it.
    for (const half of [text.slice(0, 20), text.slice(20)]) {
      response.write(half);
      await new Promise(setImmediate);
    }
    await vi.waitUntil(() => blocks.length > sentBefore, WAIT);
    return [blocks.at(-1), pools().join('')];
  };
  const errors = [{ poolAddress: 'd', status: 404, error: 'unknown' }];
  expect(await says('snapshot', 10, { quotes: quotesOf('a'), errors, last: false })).toEqual([null, 'a']);
  expect(await says('snapshot', 10, { quotes: quotesOf('b', 'c'), errors: [], last: true })).toEqual([10, 'abc']);
  expect(await says('stale', 11, { pools: [{ poolAddress: 'b', status: 503, error: 'late' }] })).toEqual([null, 'ac']);
  expect(await says('heartbeat', 11, {})).toEqual([11, 'ac']);
  expect(await says('removed', 12, { pools: [{ poolAddress: 'c', reason: 'delisted' }] })).toEqual([null, 'a']);
  expect(await says('update', 12, { quotes: quotesOf('b'), last: true })).toEqual([12, 'ab']);
  expect(await says('reorg', 12, { fromBlock: 12 })).toEqual([null, 'a']);
  expect(await says('gap', 12, {})).toEqual([null, '']);
  await stop();
});

test('it comes again after the last whole message: at the time that bye names, and when it is cut', async () => {
  const { next, blocks, connections, stop } = await startScript(60_000);
  const first = await next(1);
  first.response.write('event: heartbeat\nid: e-1\ndata: {"blockNumber":5}\n\n');
  first.response.write('event: heartbeat\nid: e-2\ndata: {"block');
  await vi.waitUntil(() => blocks.length === 1, WAIT);
  first.response.destroy();
  const second = await next(2);
  second.response.end('event: bye\ndata: {"blockNumber":5,"reason":"shutdown","retryMs":1}\n\n');
  const third = await next(3);
  third.response.end('event: heartbeat\nid: e-3\ndata: {"blockNumber":6}\n\n');
  await next(4);
  expect(connections.map(({ after }) => after)).toEqual(['', 'e-1', 'e-1', 'e-3']);
  expect(blocks.filter((block, index) => block !== blocks[index - 1])).toEqual([5, null, 6, null]);
  await stop();
});

test('it comes again after the last message when nothing comes', async () => {
  const { next, connections, stop } = await startScript(100);
  // A busy machine may take longer than that until the first message.
  for (let count = 1; connections.at(-1)?.after !== 'e-1'; count += 1) {
    const { response } = await next(count);
    response.write('event: heartbeat\nid: e-1\ndata: {"blockNumber":6}\n\n');
  }
  await stop();
});

test('it waits as long as Retry-After says, and ends where trying again cannot help', async () => {
  const statuses = [429, 404];
  const requestedAt: number[] = [];
  const server = createServer((_, response) => {
    requestedAt.push(performance.now());
    response.writeHead(statuses.shift() ?? 500, { 'Retry-After': '5' }).end('{"error":"no"}\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const follow = await documentClient(60_000, 20);
  const blocks: (number | null)[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const following = follow(url, new Map(), (block) => blocks.push(block), new AbortController().signal);
  await expect(following).rejects.toThrow('status 404');
  const [first = 0, second = 0] = requestedAt;
  expect(second - first).toBeGreaterThan(90);
  expect([blocks, requestedAt.length]).toEqual([[null, null], 2]);
  server.close();
});
