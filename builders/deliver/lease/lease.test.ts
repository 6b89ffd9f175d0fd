import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createRedisDatabase, type TestRedis } from '../../../test/harness/redis.ts';
import { eventually } from '../../../test/pamm/eventually.ts';
import { submissionOf, updateOf } from '../../../test/pamm/sample-updates.ts';
import { BundleState } from '../../submit/bundle/bundle-state.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { admitUpdate } from '../../submit/stream/stream-order.ts';
import { acquireLease, type Lease } from './lease.ts';

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
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  redis.disconnect();
  await database.drop();
});

const acquire = (durationMs = 60_000, heldBefore = false) =>
  acquireLease(redis, keys.leaseKeys('e'), durationMs, heldBefore);

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
  const started = 1_000_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValue(started);
  const lease = await acquired(60_000);
  clock.mockReturnValue(started + 40_000);
  expect(await lease.renew()).toBe(true);
  expect(await redis.pttl(keys.lease('e'))).toBeGreaterThan(50_000);
  // 60 seconds from the renewal, less the fifth that nobody uses: Redis still keeps the lease by then.
  clock.mockReturnValue(started + 87_999);
  expect(lease.isHeld()).toBe(true);
  clock.mockReturnValue(started + 88_000);
  expect(lease.isHeld()).toBe(false);
  expect(await acquire()).toBeUndefined();
});

test('a holder whose lease Redis has ended neither renews nor releases that of the next', async () => {
  const lease = await acquired();
  await redis.del(keys.lease('e'));
  const next = await acquired();
  expect(await lease.renew()).toBe(false);
  expect(lease.isHeld()).toBe(false);
  await lease.release();
  expect(await next.renew()).toBe(true);
});

test('a holder that was overtaken may not send, and puts nothing in flight', async () => {
  const first = await acquired();
  await redis.del(keys.lease('e'));
  const second = await acquired();
  const update = updateOf();
  expect(await admitUpdate({ redis, keys, endpointId: 'e', fence: first.fence }, update)).toBe('fenced');
  expect(await admitUpdate({ redis, keys, endpointId: 'e', fence: second.fence }, update)).toBe('send');

  const pushes = new BundleState(redis, keys, 'e');
  const push = submissionOf({ maxTimestamp: BigInt(Math.ceil(Date.now() / 1_000) + 60) });
  await pushes.enqueue(push, Date.now());
  expect(await pushes.dequeue(push, first.fence, Date.now())).toBe('fenced');
  expect(await pushes.dequeue(push, second.fence, push.arrivedAtMs)).toBe('send');
});

test('after a loss of data, workers that know what was sent come first, and tokens keep growing', async () => {
  const before = await acquired();
  await redis.flushdb();
  expect(await acquire(400, false)).toBeUndefined();
  const again = await acquired(400, true);
  expect(BigInt(again.fence)).toBeGreaterThan(BigInt(before.fence));
  await again.release();
  await eventually(() => acquire(400, false));
});
