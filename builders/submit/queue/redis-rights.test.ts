import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../runtime/project-root.ts';
import { createRedisDatabase, type TestRedis } from '../../../test/harness/redis.ts';

/* That every process works with these rights is tested where all of them run: test/operations/operations.test.ts. */

let database: TestRedis;
let redis: Redis;

beforeAll(async () => {
  database = await createRedisDatabase('pamm');
  redis = new Redis(database.url);
});

afterAll(async () => {
  redis.disconnect();
  await database.drop();
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
