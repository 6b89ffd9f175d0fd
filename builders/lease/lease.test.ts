import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRedisDatabase, type TestRedis } from '../../test/harness/redis.ts';
import { RedisKeys } from '../queue/redis-keys.ts';
import { StreamOrder } from '../stream/stream-order.ts';
import { updateOf } from '../testing/updates.ts';
import { Lease } from './lease.ts';

let database: TestRedis;
let redis: Redis;
let keys: RedisKeys;

beforeAll(async () => {
  database = await createRedisDatabase();
  redis = new Redis(database.url);
});
beforeEach(async () => {
  keys = new RedisKeys(`t${randomBytes(6).toString('hex')}`);
  await redis.set(keys.epoch(), '1');
});
afterAll(async () => {
  redis.disconnect();
  await database.drop();
});

const acquire = (durationMs = 400, heldBefore = false) => Lease.acquire(redis, keys, 'e', { durationMs, heldBefore });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function acquired(...args: Parameters<typeof acquire>): Promise<Lease> {
  const lease = await acquire(...args);
  if (!lease) throw new Error('the lease is held by another');
  return lease;
}

test('one holder at a time; the next gets a higher token', async () => {
  const first = await acquired();
  expect(await acquire()).toBeUndefined();
  await first.release();
  expect(first.isHeld()).toBe(false);
  const second = await acquired();
  expect(BigInt(second.fence)).toBeGreaterThan(BigInt(first.fence));
});

test('renewal keeps it; without, the holder stops before another may start', async () => {
  const lease = await acquired();
  for (const _ of [1, 2, 3]) {
    await sleep(200);
    expect(await lease.renew()).toBe(true);
  }
  await sleep(350);
  expect(lease.isHeld()).toBe(false);
  expect(await redis.exists(keys.lease('e'))).toBe(1);
  await sleep(100);
  const next = await acquired();
  expect(await lease.renew()).toBe(false);
  await lease.release();
  expect(await next.renew()).toBe(true);
});

test('a holder that was overtaken may not send, and puts nothing in flight', async () => {
  const order = new StreamOrder(redis, keys);
  const first = await acquired(50);
  await sleep(60);
  const second = await acquired();
  const update = updateOf();
  expect(await order.admit('e', first.fence, update)).toBe('fenced');
  expect(await order.admit('e', second.fence, update)).toBe('send');
});

test('after a loss of data those who know what was sent come first, and tokens go on growing', async () => {
  const before = await acquired();
  await redis.flushdb();
  expect(await acquire(400, false)).toBeUndefined();
  const again = await acquired(400, true);
  expect(BigInt(again.fence)).toBeGreaterThan(BigInt(before.fence));
  await again.release();
  await sleep(400);
  await acquired(400, false);
});
