import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { Lease } from '../../../runtime/lease/lease.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import { pass, stopTime } from '../../../test/harness/stopped-time.ts';
import { submissionOf, updateOf } from '../../../test/pamm/sample-updates.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { UpdateLog } from '../../submit/update-log.ts';
import { LeaseLostError } from '../lease/lease-lost-error.ts';
import { RELAYER } from './relayer-codec.ts';
import { rememberSent, StreamDelivery } from './stream-delivery.ts';

/** Nothing listens there. */
const URL = 'ws://127.0.0.1:1/';
const LEASE_MS = 1_000;
/** A holder does not use the last fifth of a lease. */
const HELD_MS = 800;

/** A Redis that renews every lease. */
const redis = { eval: async () => 1 } as unknown as Redis;

test('what waits for a connection is given back when the lease ends, however often it was renewed', async () => {
  stopTime();
  const keys = new RedisKeys('d');
  const logger = createLogger('test', 'silent');
  const request = { redis, keys: keys.leaseKeys('e'), durationMs: LEASE_MS };
  const lease = new Lease(request, '1', performance.now());
  const delivery = new StreamDelivery({
    endpoint: { id: 'e', transport: 'relayer', url: URL, provider: `e:${URL}` },
    redis,
    keys,
    log: new UpdateLog(redis, keys, createMetrics('test'), logger),
    logger,
    lease,
    codec: RELAYER,
    sent: rememberSent(),
    onUpdate: () => undefined,
    dialTimes: { minPauseMs: 60_000, maxPauseMs: 60_000 },
  });
  let end: unknown;
  delivery.process(submissionOf()).catch((error: unknown) => {
    end = error;
  });
  await pass(HELD_MS - 10);
  await lease.renew();
  await pass(HELD_MS - 10);
  expect(end).toBeUndefined();
  await pass(20);
  expect(end).toBeInstanceOf(LeaseLostError);
  await delivery.stop(true);
});

test('a uuid that was unused for an hour may begin again at a lower sequence number', () => {
  let now = 1;
  const sent = rememberSent({ now: () => now });
  const { replacementUuid } = updateOf();
  sent.set(replacementUuid, 9n);
  now += 3_600_000;
  expect(sent.get(replacementUuid)).toBe(9n);
  now += 1;
  expect(sent.get(replacementUuid)).toBeUndefined();
});
