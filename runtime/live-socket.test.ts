import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { LiveSocket } from './live-socket.ts';
import { createLogger } from './logger.ts';

/** A socket to a server of the test, and what both saw. */
async function connect(onConnection: (socket: WebSocket) => void, options: ServerOptions = {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
  await once(server, 'listening');
  const dialledAt: number[] = [];
  server.on('connection', (socket) => {
    dialledAt.push(performance.now());
    onConnection(socket);
  });
  const seen = { opened: 0, ended: 0, messages: [] as string[] };
  const socket = new LiveSocket({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    minPauseMs: 100,
    maxPauseMs: 200,
    pingMs: 50,
    onOpen: () => {
      seen.opened += 1;
    },
    onMessage: (data) => seen.messages.push(data.toString()),
    onEnd: () => {
      seen.ended += 1;
    },
    logger: createLogger('test', 'silent'),
  });
  onTestFinished(() => {
    socket.close();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { socket, dialledAt, seen };
}

test('a server that answers no ping is left and dialled again', async () => {
  const pings: number[] = [];
  const { seen } = await connect(
    (socket) => {
      const connection = pings.push(0) - 1;
      socket.on('ping', () => {
        pings[connection] = (pings[connection] ?? 0) + 1;
      });
    },
    { autoPong: false },
  );
  await vi.waitUntil(() => pings.length >= 3, { timeout: 10_000 });
  // Each was asked once before it was given up; the newest may not have been yet.
  expect([pings.slice(0, 2), seen.ended]).toEqual([[1, 1], 2]);
});

test('a server that ends connections at once is dialled at growing distances', async () => {
  const { dialledAt } = await connect((socket) => socket.terminate());
  await vi.waitUntil(() => dialledAt.length >= 4, { timeout: 10_000 });
  const gaps = dialledAt.slice(1, 4).map((at, index) => at - (dialledAt[index] ?? 0));
  // Pauses of 100 and 200 ms, less what a busy machine takes to notice the dial before.
  expect(gaps[0]).toBeGreaterThanOrEqual(50);
  expect(gaps[1]).toBeGreaterThanOrEqual(100);
  expect(gaps[2]).toBeGreaterThanOrEqual(100);
});

test('a message beyond the limit ends the connection, and one after an end is not passed on', async () => {
  const { seen, dialledAt } = await connect((socket) => {
    socket.send('first');
    socket.send('x'.repeat(2_000_000));
    socket.send('after');
  });
  await vi.waitUntil(() => dialledAt.length >= 2, { timeout: 10_000 });
  expect(new Set(seen.messages)).toEqual(new Set(['first']));
});

test('a closed socket calls nothing and does not dial again, also while it connects', async () => {
  const { socket, seen, dialledAt } = await connect(() => undefined);
  socket.close();
  await sleep(300);
  expect([seen.opened, seen.ended, dialledAt.length, socket.isOpen]).toEqual([0, 0, 0, false]);
});
