import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createLogger } from '../../../runtime/logger.ts';
import { eventually } from '../../../test/pamm/eventually.ts';
import { DEFAULT_TIMES, StreamConnection } from './stream-connection.ts';

test('any number of updates may wait for a connection that is away', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const connection = new StreamConnection({ url: 'ws://127.0.0.1:1/' }, createLogger('test', 'silent'));
  const opened = await Promise.all(Array.from({ length: 20 }, () => connection.whenOpen(50)));
  await sleep(0);
  connection.close();
  process.off('warning', note);
  expect(opened).not.toContain(true);
  expect(warnings).toEqual([]);
  expect(connection.listenerCount('open')).toBe(0);
});

test('a builder that answers no ping is left and dialled again', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pings: number[] = [];
  server.on('connection', (socket) => {
    const connection = pings.push(0) - 1;
    socket.on('ping', () => {
      pings[connection] = (pings[connection] ?? 0) + 1;
    });
  });
  const times = { ...DEFAULT_TIMES, dialFloorMs: 50, keepaliveMs: 50 };
  const connection = new StreamConnection({ url: `ws://127.0.0.1:${port}/` }, createLogger('test', 'silent'), times);
  await eventually(() => pings.length >= 3);
  connection.close();
  server.close();
  // Each was asked once before it was given up; the newest may not have been yet.
  expect(pings.slice(0, 2)).toEqual([1, 1]);
});
