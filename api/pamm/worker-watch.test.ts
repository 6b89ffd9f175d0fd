import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import { createRedisDatabase, type TestRedis } from '../../test/harness/redis.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { WorkerWatch } from './worker-watch.ts';

let database: TestRedis;
let redis: Redis;
let keys: RedisKeys;
let nowMs: number;
let lines: string[];
let watch: WorkerWatch;

beforeAll(async () => {
  database = await createRedisDatabase();
  redis = new Redis(database.url);
});
afterAll(async () => {
  redis.disconnect();
  await database.drop();
});

beforeEach(() => {
  keys = new RedisKeys(`t${randomBytes(6).toString('hex')}`);
  nowMs = 0;
  lines = [];
  watch = watchOver(redis);
});

function watchOver(connection: Redis): WorkerWatch {
  const logger = { warn: () => lines.push('missing'), info: () => lines.push('back') };
  return new WorkerWatch({ redis: connection, keys, endpointIds: ['e1', 'e2'], logger, now: () => nowMs });
}

async function pollFor(secs: number): Promise<boolean> {
  for (let n = 0; n < secs; n++) {
    nowMs += 1_000;
    await watch.poll();
  }
  return watch.isMissing();
}

test('a worker is missing when no lease is there for longer than one takes to acquire, which is said once', async () => {
  expect(await pollFor(6)).toBe(false);
  expect(await pollFor(60)).toBe(true);
  expect(lines).toEqual(['missing']);
  await redis.set(keys.lease('e2'), '1');
  expect(await pollFor(60)).toBe(false);
  expect(lines).toEqual(['missing', 'back']);
});

test('a Redis that lost its data hides a worker for less than that', async () => {
  await redis.set(keys.lease('e2'), '1');
  await pollFor(1);
  await redis.del(keys.lease('e2'));
  expect(await pollFor(5)).toBe(false);
  await redis.set(keys.lease('e2'), '1');
  expect(await pollFor(5)).toBe(false);
  expect(lines).toEqual([]);
});

test('while Redis is unreachable, what was known of the worker stands', async () => {
  const lost = new Redis(database.url, { enableOfflineQueue: false });
  await eventually(() => lost.status === 'ready');
  watch = watchOver(lost);
  await pollFor(3);
  lost.disconnect();
  expect(await pollFor(60)).toBe(false);
  expect(lines).toEqual([]);
});
