import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { OpenSocket } from '../sockets/open-socket.ts';
import { runSession } from '../sockets/session.ts';
import { WsSession } from './ws-session.ts';

const POOL = `0x${'11'.repeat(20)}`;

test('a subscription that fails after its ack is logged and answered, and the next operation is taken', async () => {
  const sent: unknown[] = [];
  const logged: unknown[] = [];
  const send = (text: string) => void sent.push(JSON.parse(text));
  const socket = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, send });
  const failure = new Error('unexpected');
  const subscriber = {
    isSubscribed: false,
    hasKey: false,
    subscribe() {
      throw failure;
    },
  };
  const logger = { error: ({ err }: { err: unknown }) => void logged.push(err) };
  const opened = { socket, now: () => 0 } as unknown as OpenSocket;
  const deps = { opened, subscriber, logger } as unknown as ConstructorParameters<typeof WsSession>[0];
  runSession(opened, new WsSession(deps));
  for (const operation of [
    { op: 'subscribe', id: 1, pools: [POOL] },
    { op: 'ping', id: 2 },
  ])
    socket.emit('message', Buffer.from(JSON.stringify(operation)), false);
  await nextTurn();
  expect(sent).toEqual([
    { event: 'ack', id: 1 },
    { event: 'error', id: 1, status: 500, error: 'Internal server error' },
    { event: 'ack', id: 2 },
  ]);
  expect(logged).toEqual([failure]);
});
