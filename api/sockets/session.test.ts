import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { keepAlive } from './keep-alive.ts';
import type { OpenSocket } from './open-socket.ts';
import { runSession, type Session } from './session.ts';

/** A socket whose client says what the test says, and what it was sent. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly sent: string[] = [];

  send(text: string): void {
    this.sent.push(text);
  }

  say(text: string): void {
    this.emit('message', Buffer.from(text), false);
  }
}

/** A session whose answers come when the test says so. */
function open(session: Partial<Session> = {}, now = () => 0) {
  const socket = new FakeSocket();
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const ended: string[] = [];
  const answer: Session['answer'] = async (data) => {
    asked.push(`${data}`);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { response: `answer ${data}`, after: () => socket.sent.push(`after ${data}`) };
  };
  const closed = vi.fn();
  const refuse: Session['refuse'] = ({ status }) => `${status}`;
  const end = (reason: string) => void ended.push(reason);
  const stop = runSession({ socket, now } as unknown as OpenSocket, {
    answer,
    refuse,
    end,
    closed,
    ...session,
  });
  const finish = async () => {
    waiting.shift()?.();
    await nextTurn();
  };
  return { socket, asked, ended, closed, stop, finish };
}

test('messages are answered one after the other, each before what follows it', async () => {
  const { socket, asked, finish } = open();
  socket.say('a');
  socket.say('b');
  await nextTurn();
  expect(asked).toEqual(['a']);
  await finish();
  expect([asked, socket.sent]).toEqual([
    ['a', 'b'],
    ['answer a', 'after a'],
  ]);
  await finish();
  expect(socket.sent.slice(2)).toEqual(['answer b', 'after b']);
});

test('nothing is answered while a connection closes, and the session learns once that it is closed', async () => {
  const { socket, asked, closed, finish } = open();
  socket.say('a');
  socket.say('b');
  await nextTurn();
  socket.readyState = 2;
  socket.say('c');
  await finish();
  expect([asked, socket.sent]).toEqual([['a'], []]);
  for (let times = 0; times < 2; times += 1) socket.emit('close');
  expect(closed).toHaveBeenCalledOnce();
});

test('of a second, ten messages are answered, others are refused, and a flood ends the connection', async () => {
  const { socket, ended, stop } = open({ answer: async () => ({ response: null }) });
  for (let count = 0; count < 10; count += 1) socket.say('a');
  await nextTurn();
  expect(socket.sent).toEqual([]);
  for (let count = 0; count < 100; count += 1) socket.say('a');
  expect(socket.sent).toEqual(Array(100).fill('429'));
  expect(ended).toEqual([]);
  socket.say('a');
  expect(ended).toEqual(['limits']);
  stop('shutdown');
  expect(ended).toEqual(['limits', 'shutdown']);
});

test('while an answer takes long, 50 messages wait for it, however long that is; further ones are refused', async () => {
  const clock = { now: 0 };
  const { socket, asked, ended, finish } = open({}, () => clock.now);
  for (let second = 0; second < 10; second += 1) {
    for (let count = 0; count < 10; count += 1) socket.say('a');
    clock.now += 1_000;
    await nextTurn();
  }
  expect([asked.length, socket.sent.length, ended]).toEqual([1, 50, []]);
  for (let count = 0; count < 50; count += 1) await finish();
  expect(asked).toHaveLength(50);
  socket.say('b');
  await nextTurn();
  expect(asked.at(-1)).toBe('b');
});

test('who sends more while a long response is under way stays, who leaves two unread does not', async () => {
  const LONG = 2 * 1024 * 1024;
  class SlowSocket extends FakeSocket {
    bufferedAmount = 0;
    readonly terminate = vi.fn();
    override send(text: string): void {
      this.bufferedAmount += Buffer.byteLength(text);
    }
  }
  const socket = new SlowSocket();
  const opened = { socket, now: () => 0, largestMessage: 0 } as unknown as OpenSocket;
  keepAlive(opened, () => undefined);
  const response = 'ä'.repeat(LONG / 2);
  runSession(opened, { answer: async () => ({ response }), end: () => undefined, closed: () => undefined });
  for (const unread of [LONG, 2 * LONG]) {
    socket.say('a');
    await nextTurn();
    expect([socket.bufferedAmount, socket.terminate.mock.calls.length]).toEqual([unread, 0]);
  }
  socket.say('a');
  expect(socket.terminate).toHaveBeenCalledOnce();
  socket.emit('close');
});
