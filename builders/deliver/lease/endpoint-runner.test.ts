import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createLogger } from '../../../runtime/logger.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { EndpointQueues } from '../../submit/queue/endpoint-queue.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { Hex } from '../../submit/quote-update.ts';
import { UpdateLog } from '../../submit/update-log.ts';
import { RELAYER } from '../stream/relayer-codec.ts';
import { StreamDelivery } from '../stream/stream-delivery.ts';
import { startEndpointRunner } from './endpoint-runner.ts';

/** Nothing listens there. */
const URL = 'ws://127.0.0.1:1/';

const database = startedWorld(createRedisDatabase);
let redis: Redis;

beforeAll(async () => {
  redis = new Redis(database.url, { maxRetriesPerRequest: null });
});
afterAll(() => redis.disconnect());

test('a runner that stops gives an update that waits for a connection back to the queue', async () => {
  const keys = new RedisKeys('runner');
  await redis.set(keys.epoch(), '1');
  const logger = createLogger('test', 'silent');
  const warn = vi.spyOn(logger, 'warn');
  const queues = new EndpointQueues(redis, keys.prefix, logger);
  const endpoint: Endpoint = { id: 'e', transport: 'relayer', url: URL, provider: `e:${URL}` };
  const context = { endpoint, redis, keys, log: new UpdateLog(redis, keys, createMetrics('test'), logger), logger };
  const taken = Promise.withResolvers<void>();
  const runner = startEndpointRunner(
    context,
    1,
    (lease) =>
      new StreamDelivery({
        ...context,
        lease,
        codec: RELAYER,
        sent: new LRUCache<Hex, bigint>({ max: 10 }),
        onUpdate: () => taken.resolve(),
        dialTimes: { minPauseMs: 100, maxPauseMs: 400 },
      }),
    10_000,
  );
  const submission = submissionOf({}, Date.now() + 60_000);
  await queues.add(endpoint.id, submission);
  await taken.promise;
  await runner.stop();
  // The queue did not have to be closed while the job ran.
  expect(warn.mock.calls.map(([, message]) => message)).not.toContain('closing the queue');
  expect(await (await queues.get(endpoint.id).getJob(submission.id))?.isDelayed()).toBe(true);
  await queues.close();
});
