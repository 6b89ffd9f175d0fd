import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { pass, passUntil, stopTime, until } from '../test/harness/stopped-time.ts';
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
  onTestFinished(async () => {
    socket.close();
    const closed = once(server, 'close');
    server.close();
    for (const client of server.clients) client.terminate();
    // What comes over a socket sets timers: the next test counts its own.
    await closed;
  });
  return { socket, dialledAt, seen };
}

test('a server that answers no ping is left and dialled again', async () => {
  stopTime();
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
  for (const connections of [1, 2]) {
    await passUntil(() => pings[connections - 1] === 1, 400);
    expect(seen).toMatchObject({ opened: connections, ended: connections - 1 });
    await pass(50);
    await until(() => seen.ended === connections);
  }
  await passUntil(() => pings.length === 3, 400);
  expect(pings.slice(0, 2)).toEqual([1, 1]);
});

test('a server that ends connections at once is dialled at growing distances', async () => {
  stopTime();
  const { dialledAt, seen } = await connect((socket) => socket.terminate());
  for (let dials = 1; dials <= 4; dials += 1) {
    await until(() => seen.ended === dials);
    if (dials < 4) await passUntil(() => dialledAt.length > dials, 400);
  }
  const gaps = dialledAt.slice(1).map((at, index) => at - (dialledAt[index] ?? 0));
  // Pauses of 100 and 200 ms, and up to a fifth more.
  expect(gaps.map((gap) => Math.floor(gap / 100))).toEqual([1, 2, 2]);
  expect(gaps.map((gap) => gap % 100).filter((over) => over > 45)).toEqual([]);
});

test('a message beyond the limit ends the connection, and one after an end is not passed on', async () => {
  const { seen, dialledAt } = await connect((socket) => {
    socket.send('first');
    socket.send('x'.repeat(2_000_000));
    socket.send('after');
  });
  await vi.waitUntil(() => dialledAt.length >= 2);
  expect(new Set(seen.messages)).toEqual(new Set(['first']));
});

test('a closed socket calls nothing and does not dial again, also while it connects', async () => {
  stopTime();
  const { socket, seen, dialledAt } = await connect(() => undefined);
  socket.close();
  await pass(300);
  expect([seen.opened, seen.ended, dialledAt.length, socket.isOpen]).toEqual([0, 0, 0, false]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a server that reads nothing is left, not before as much is unsent as one turn may send', async () => {
  stopTime();
  const { socket, seen } = await connect((server) => server.pause());
  await until(() => seen.opened === 1);
  const update = Buffer.alloc(250 * 1_024);
  for (let sent = 0; sent < 16; sent += 1) socket.send(update);
  expect([socket.isOpen, seen.ended]).toEqual([true, 0]);
  while (socket.isOpen) socket.send(update);
  await until(() => seen.ended === 1);
});
