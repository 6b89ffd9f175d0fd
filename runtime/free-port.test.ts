import { once } from 'node:events';
import { createServer } from 'node:net';
import { threadId } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { freePort, portsOf } from './free-port.ts';

test('a free port can be listened on, and is none that the system gives to whoever asks for any', async () => {
  for (let tries = 0; tries < 20; tries++) {
    const port = await freePort('127.0.0.1');
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});

test('processes with ids in a row, and threads, have ports of their own, and one that has used all of its ports gets others', async () => {
  const owners = new Map<number, number>();
  for (let pid = 1_000; pid < 1_064; pid += 1) {
    const { first, count } = portsOf(pid, 0);
    for (let port = first; port < first + count; port += 1) {
      expect(owners.has(port)).toBe(false);
      owners.set(port, pid);
    }
  }
  const threads = [0, 1, 2, 3].map((thread) => owners.get(portsOf(1_000, thread).first));
  expect(new Set(threads).size).toBe(4);
  expect([Math.min(...owners.keys()), Math.max(...owners.keys()) < 32_768]).toEqual([20_000, true]);
  const { count } = portsOf(process.pid, threadId);
  const ports = await Promise.all(Array.from({ length: count + 10 }, () => freePort()));
  expect(new Set(ports).size).toBe(ports.length);
});
