import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHeartbeat } from '../../builders/submit/heartbeat.ts';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import { createLogger } from '../../runtime/logger.ts';
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
  return new WorkerWatch({ redis: connection, keys, logger, now: () => nowMs });
}

async function lookFor(secs: number): Promise<boolean> {
  for (let n = 0; n < secs; n++) {
    nowMs += 1_000;
    await watch.look();
  }
  return watch.isMissing();
}

test('a worker is missing when its key stays absent for longer than a beat, which is said once', async () => {
  expect(await lookFor(6)).toBe(false);
  expect(await lookFor(60)).toBe(true);
  expect(lines).toEqual(['missing']);
  await redis.set(keys.heartbeat(), '1');
  expect(await lookFor(60)).toBe(false);
  expect(lines).toEqual(['missing', 'back']);
});

test('a Redis that lost its data hides a worker for less than that', async () => {
  await redis.set(keys.heartbeat(), '1');
  await lookFor(1);
  await redis.del(keys.heartbeat());
  expect(await lookFor(5)).toBe(false);
  await redis.set(keys.heartbeat(), '1');
  expect(await lookFor(5)).toBe(false);
  expect(lines).toEqual([]);
});

test('while Redis is unreachable, what was known of the worker stands', async () => {
  const lost = new Redis(database.url, { enableOfflineQueue: false });
  await eventually(() => lost.status === 'ready');
  watch = watchOver(lost);
  await lookFor(3);
  lost.disconnect();
  expect(await lookFor(60)).toBe(false);
  expect(lines).toEqual([]);
});

test('a heartbeat is written at once and again when Redis is back, and expires by itself', async () => {
  const connection = new Redis(database.url);
  const stop = startHeartbeat(connection, keys, createLogger('test', 'silent'));
  await eventually(async () => (await redis.exists(keys.heartbeat())) === 1);
  await redis.del(keys.heartbeat());
  connection.disconnect(true);
  // Sooner than the next beat.
  await eventually(async () => (await redis.exists(keys.heartbeat())) === 1, 4_000);
  stop();
  const lastsMs = await redis.pttl(keys.heartbeat());
  expect(lastsMs).toBeGreaterThan(10_000);
  expect(lastsMs).toBeLessThanOrEqual(12_000);
  connection.disconnect();
});
