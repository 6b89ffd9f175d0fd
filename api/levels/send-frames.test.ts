import { Hono } from 'hono';
import { afterEach, expect, test, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { StreamConfig } from '../../config/stream-schema.ts';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { passUntil, stopTime } from '../../test/harness/stopped-time.ts';
import { Connections } from '../sockets/connections.ts';
import { openSocket } from '../sockets/open-socket.ts';
import { FrameFeeds, type FrameSource } from './frame-feed.ts';
import { madeOf } from './made-frame.fixture.ts';
import { endFrames, sendFrames } from './send-frames.ts';

/* Frames of any size, over real sockets, to clients that read fast, slowly or not at all. */

const LARGE = 4 * 1024 * 1024;
let server: RunningServer | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await server?.stop(100);
  server = undefined;
});

/** What ends `start` when nobody reads any more is counted in `open`. */
function sourceOf(
  bytes: number,
  minMs: number,
  seen: { open: number; active: number; most: number; made: number },
): FrameSource {
  let number = 0;
  return {
    minMs,
    maxMs: minMs,
    start: () => {
      seen.open += 1;
      return () => {
        seen.open -= 1;
      };
    },
    async make() {
      seen.active += 1;
      seen.most = Math.max(seen.most, seen.active);
      await new Promise(setImmediate);
      seen.active -= 1;
      number += 1;
      seen.made += 1;
      return madeOf(`${bytes} ${number} `.padEnd(bytes, '.'));
    },
  };
}

/** A client that answers no ping is terminated after two to three times this long, which a busy machine may take. */
const PING_MS = 1_000;
/** Nobody is terminated for an answer that comes late. */
const UNPINGED_MS = 600_000;
const EVENTUALLY = { timeout: 50_000 };

/** Serves feeds of these sizes and paces to each client. */
async function serve(feeds: readonly (readonly [bytes: number, minMs: number])[], pingMs = PING_MS) {
  const logger = createLogger('test', 'silent');
  const terminations: string[] = [];
  const seen = { open: 0, active: 0, most: 0, made: 0 };
  const frames = new FrameFeeds(logger, () => performance.now());
  const connections = new Connections(StreamConfig.parse({}));
  const sockets = { connections, countTermination: (_chain: number, reason: string) => terminations.push(reason) };
  const app = new Hono();
  app.get('/:chain_id', (c) =>
    openSocket(
      c,
      { sockets, trustedProxies: 0, logger, pingMs },
      (opened) => {
        const leaves = feeds.map(([bytes, minMs]) =>
          sendFrames(
            frames.of(`${bytes}`, () => sourceOf(bytes, minMs, seen)),
            opened,
          ),
        );
        opened.socket.once('close', () => {
          for (const leave of leaves) leave();
        });
        return (reason) => endFrames(opened.socket, reason);
      },
      true,
    ),
  );
  server = await startServer(app, '127.0.0.1', 0, { webSockets: /^\/1$/ });
  return { url: `ws://127.0.0.1:${server.port}/1`, terminations, seen };
}

/** Connects, and notes the frames that come as their size and number. Compressed, they are short. */
async function connect(url: string, options: ClientOptions = { perMessageDeflate: false }) {
  const socket = new WebSocket(url, options);
  const frames: { readonly bytes: number; readonly number: number; readonly received: number }[] = [];
  socket.on('message', (data: Buffer) => {
    const [bytes, number] = data.subarray(0, 40).toString().split(' ').map(Number);
    frames.push({ bytes: bytes ?? 0, number: number ?? 0, received: data.length });
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  return { socket, frames };
}

test('a client that reads slowly and pings gets frames in order, and stays', async () => {
  stopTime();
  const { url, terminations } = await serve([[LARGE, 50]]);
  const { socket, frames } = await connect(url);
  socket.on('message', () => {
    socket.pause();
    setTimeout(() => socket.resume(), 150);
  });
  const pings = setInterval(() => socket.ping(), 10);
  let serverPings = 0;
  socket.on('ping', () => {
    serverPings += 1;
  });
  // Longer than a client stays that reads nothing.
  await passUntil(() => frames.length > 3 && serverPings > 3, 60_000);
  clearInterval(pings);
  expect([socket.readyState, terminations]).toEqual([WebSocket.OPEN, []]);
  const numbers = frames.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
  socket.terminate();
});

test('a small feed comes through beside a large one, whose frames fill the socket', async () => {
  const { url, terminations } = await serve(
    [
      [LARGE, 20],
      [2_000, 20],
    ],
    UNPINGED_MS,
  );
  const { socket, frames } = await connect(url);
  await expect.poll(() => frames.some(({ bytes }) => bytes === LARGE), EVENTUALLY).toBe(true);
  frames.splice(0);
  const smallest = () => {
    const small = frames.filter(({ bytes }) => bytes === 2_000).length;
    return Math.min(small, frames.length - small);
  };
  await expect.poll(smallest, EVENTUALLY).toBeGreaterThan(5);
  expect(terminations).toEqual([]);
  socket.terminate();
});

test('for a client that reads nothing few frames are made, until it is terminated and counted', async () => {
  stopTime();
  const { url, terminations, seen } = await serve([[LARGE, 20]], 300);
  const { socket } = await connect(url);
  socket.pause();
  await passUntil(() => seen.open === 0, 5_000);
  expect(terminations).toEqual(['timeout']);
  // What the buffers of the system take; else there were 20 in 400 ms.
  expect(seen.made).toBeLessThan(8);
  socket.terminate();
});

test('frames of many feeds are made one by one', async () => {
  const feeds = Array.from({ length: 40 }, (_, n) => [1_000 + n, 20] as const);
  const { url, seen } = await serve(feeds);
  const { socket, frames } = await connect(url);
  await expect.poll(() => new Set(frames.map(({ bytes }) => bytes)).size, EVENTUALLY).toBe(feeds.length);
  expect([seen.open, seen.most]).toEqual([feeds.length, 1]);
  socket.terminate();
  await expect.poll(() => seen.open, EVENTUALLY).toBe(0);
});

test('frames come whole, whichever form their length has', async () => {
  const lengths = [100, 125, 126, 65_535, 65_536];
  const { url } = await serve(lengths.map((bytes) => [bytes, 20]));
  const { socket, frames } = await connect(url);
  await expect.poll(() => new Set(frames.map(({ bytes }) => bytes)).size, EVENTUALLY).toBe(lengths.length);
  for (const { bytes, received } of frames) expect(received).toBe(bytes);
  socket.terminate();
});

test('clients that offer compression get the same frames, whatever window they have', async () => {
  // Large frames come so seldom that a busy machine has time to unpack them.
  const { url } = await serve(
    [
      [LARGE, 250],
      [200, 20],
    ],
    UNPINGED_MS,
  );
  const offers: ClientOptions[] = [
    { perMessageDeflate: false },
    {},
    {},
    // As Python's client offers, then what we cannot do.
    { perMessageDeflate: { serverMaxWindowBits: 12, clientMaxWindowBits: 12 } },
    { perMessageDeflate: { serverMaxWindowBits: 9 } },
  ];
  const clients = await Promise.all(offers.map((options) => connect(url, options)));
  expect(clients.map(({ socket }) => socket.extensions)).toEqual(['', ...Array(3).fill('permessage-deflate'), '']);
  await expect
    .poll(() => clients.every(({ frames }) => frames.filter(({ bytes }) => bytes === LARGE).length > 3), EVENTUALLY)
    .toBe(true);
  for (const { socket, frames } of clients) {
    for (const bytes of [LARGE, 200]) {
      const numbers = frames.filter((frame) => frame.bytes === bytes).map(({ number }) => number);
      expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    }
    socket.terminate();
  }
});
