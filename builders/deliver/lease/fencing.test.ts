import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { acquireLease, type Lease } from '../../../runtime/lease/lease.ts';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';
import { submissionOf, updateOf } from '../../../test/pamm/sample-updates.ts';
import { BundleState } from '../../submit/bundle/bundle-state.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { admitUpdate } from '../../submit/stream/stream-order.ts';

const database = startedWorld(createRedisDatabase);
let redis: Redis;
let keys: RedisKeys;

beforeAll(async () => {
  redis = new Redis(database.url);
});
beforeEach(async () => {
  keys = new RedisKeys(`t${randomBytes(6).toString('hex')}`);
  await redis.set(keys.epoch(), '1');
});
afterAll(() => redis.disconnect());

async function acquired(): Promise<Lease> {
  const lease = await acquireLease({ redis, keys: keys.leaseKeys('e'), durationMs: 60_000 });
  if (!lease) throw new Error('the lease is held by another');
  return lease;
}

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
  expect((await pushes.dequeue(push, first.fence, Date.now())).verdict).toBe('fenced');
  expect((await pushes.dequeue(push, second.fence, push.arrivedAtMs)).verdict).toBe('send');
});
