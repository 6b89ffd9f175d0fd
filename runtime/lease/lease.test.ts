import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../test/harness/redis.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { acquireLease, type FencedLeaseKeys, type Lease } from './lease.ts';

const database = startedWorld(createRedisDatabase);
let redis: Redis;
let keys: FencedLeaseKeys;

beforeAll(async () => {
  redis = new Redis(database.url);
});
beforeEach(async () => {
  const name = randomBytes(6).toString('hex');
  keys = { lease: `${name}:lease`, fence: `${name}:fence`, epoch: `${name}:epoch` };
  await redis.set(keys.epoch, '1');
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => redis.disconnect());

const acquire = (durationMs = 60_000, comesFirst = false) => acquireLease({ redis, keys, durationMs, comesFirst });

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
  expect(await redis.pttl(keys.lease)).toBeGreaterThan(50_000);
  // 60 seconds from the renewal, less the fifth that nobody uses: Redis still keeps the lease by then.
  clock.mockReturnValue(started + 87_999);
  expect(lease.isHeld()).toBe(true);
  clock.mockReturnValue(started + 88_000);
  expect(lease.isHeld()).toBe(false);
  expect(await acquire()).toBeUndefined();
});

test('a holder whose lease Redis has ended neither renews nor releases that of the next', async () => {
  const lease = await acquired();
  await redis.del(keys.lease);
  const next = await acquired();
  expect(await lease.renew()).toBe(false);
  expect(lease.isHeld()).toBe(false);
  await lease.release();
  expect(await next.renew()).toBe(true);
});

test('after a loss of data, processes that know what was done come first, and tokens keep growing', async () => {
  const before = await acquired();
  await redis.flushdb();
  expect(await acquire(400, false)).toBeUndefined();
  const again = await acquired(400, true);
  expect(BigInt(again.fence)).toBeGreaterThan(BigInt(before.fence));
  await again.release();
  await eventually(() => acquire(400, false));
});

test('a lease without fencing is one key, and anyone may take it after a loss of data', async () => {
  const take = () => acquireLease({ redis, keys: { lease: keys.lease, holder: randomUUID() }, durationMs: 60_000 });
  await redis.flushdb();
  const first = await take();
  expect(await take()).toBeUndefined();
  expect([await first?.renew(), await redis.keys('*')]).toEqual([true, [keys.lease]]);
  await redis.flushdb();
  const second = await take();
  expect([await first?.renew(), await second?.renew()]).toEqual([false, true]);
});

test('a process to which Redis gave a lease without fencing holds it, though the answer was lost', async () => {
  const request = (holder: string) => ({ redis, keys: { lease: keys.lease, holder }, durationMs: 60_000 });
  await acquireLease(request('one')); // As after an answer that did not come in time.
  await redis.pexpire(keys.lease, 30_000);
  expect(await acquireLease(request('other'))).toBeUndefined();
  const lease = await acquireLease(request('one'));
  expect([lease?.isHeld(), (await redis.pttl(keys.lease)) > 50_000]).toEqual([true, true]);
  expect(await acquireLease(request('other'))).toBeUndefined();
});

test.each([
  ['lasts for that hour', () => redis.pexpire(keys.lease, 3_600_000)],
  [
    'ended, while Redis has its data since a time to come',
    async () => {
      await redis.del(keys.lease);
      await redis.set(keys.epoch, `${(Date.now() + 3_600_000) * 1_000}`);
    },
  ],
])(
  'a Redis whose clock was set back an hour gives a lease to the next soon: that of a dead holder %s',
  async (_, setBack) => {
    const dead = await acquired(400);
    await setBack();
    expect(await acquire(400)).toBeUndefined();
    const next = await eventually(() => acquire(400));
    expect(BigInt(next?.fence ?? 0)).toBeGreaterThan(BigInt(dead.fence));
  },
);
