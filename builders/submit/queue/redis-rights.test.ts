import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../runtime/project-root.ts';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';

/*
 * That every process works with these rights is tested where all of them run, test/operations/operations.test.ts;
 * capture in test/live/capture-shared.test.ts.
 */

const database = startedWorld(() => createRedisDatabase('pamm'));
let redis: Redis;
let capture: Redis;

const WORDS = 'pamm:reads-5-1-abc:words';
const LEASE = 'pamm:reads-5-1-abc:source-reader';

beforeAll(async () => {
  redis = new Redis(database.url);
  capture = new Redis(database.captureUrl);
});

afterAll(async () => {
  redis.disconnect();
  capture.disconnect();
});

test.each([
  ['get', 'other:epoch'],
  ['get', 'pamm2:epoch'],
  ['set', 'pamm', '1'],
  ['publish', 'other:answers', '{}'],
  ['subscribe', 'other:answers'],
  ['psubscribe', '*'],
  ['eval', "return redis.call('GET', 'other:epoch')", '0'],
  ['eval', "return redis.call('KEYS', '*')", '0'],
  ['keys', '*'],
  ['scan', '0'],
  ['randomkey'],
  ['flushdb'],
  ['swapdb', '0', '1'],
  ['config', 'get', 'dir'],
  ['acl', 'list'],
  ['client', 'list'],
  ['monitor'],
  ['script', 'flush'],
  ['function', 'flush'],
  ['pubsub', 'channels'],
  ['replicaof', '127.0.0.1', '1'],
  ['shutdown'],
])('a user of the prefix may not %s %s %s', async (command, ...args) => {
  await expect(redis.call(command, ...args)).rejects.toThrow(/NOPERM|can't (run this command|access at least one)/);
});

test.each([
  ['get', LEASE],
  ['set', LEASE, 'capture'],
  ['del', LEASE],
  ['pexpire', LEASE, '60000'],
  ['publish', WORDS, '{}'],
  ['exists', 'pamm:epoch'],
  ['exists', 'other:reads-5-1-abc:source-reader'],
  ['subscribe', 'pamm:own-updates-1-1'],
  ['subscribe', 'pamm:answers:1'],
  ['subscribe', 'pamm:reads-5-1-abc-live:reads'],
  ['subscribe', 'other:reads-5-1-abc:words'],
  ['psubscribe', 'pamm:*'],
  ['pubsub', 'channels'],
  ['eval', 'return 1', '0'],
  ['keys', '*'],
  ['client', 'list'],
  ['client', 'kill', 'type', 'normal'],
  ['acl', 'list'],
  ['flushdb'],
])('the user of capture may not %s %s %s', async (command, ...args) => {
  await expect(capture.call(command, ...args)).rejects.toThrow(/NOPERM|can't (run this command|access at least one)/);
});

test('the user of capture sees whether a process reads the sources, and gets its words', async () => {
  expect(await capture.exists(LEASE)).toBe(0);
  await redis.set(LEASE, 'one', 'PX', 10_000);
  expect(await capture.exists(LEASE)).toBe(1);
  const listener = capture.duplicate();
  const received = new Promise((resolve) => listener.once('message', (_, text) => resolve(text)));
  await listener.subscribe(WORDS);
  await redis.publish(WORDS, 'words');
  expect(await received).toBe('words');
  listener.disconnect();
});

test('a user of the prefix may ask for the time, which API processes share', async () => {
  expect(await redis.time()).toHaveLength(2);
});

test('scripts touch keys that they declare, and no others', () => {
  const scripts = ['builders', 'runtime', 'api'].flatMap((folder) =>
    readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua'))
      .map((path) => join(folder, path)),
  );
  expect(scripts.length).toBeGreaterThanOrEqual(5);
  for (const name of scripts) {
    const source = readFileSync(join(PROJECT_ROOT, name), 'utf8');
    const calls = [...source.matchAll(/redis\.\w+\s*\(([^)]*)/g)].map(([, args = '']) => args);
    expect(calls.length, name).toBeGreaterThan(0);
    expect(
      calls.filter((args) => !/^'[A-Z]+', KEYS\[\d\]/.test(args) && args !== "'TIME'"),
      name,
    ).toEqual([]);
  }
});
