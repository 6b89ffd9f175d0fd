import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../test/harness/redis.ts';
import { newUuid, updateOf } from '../../test/pamm/sample-updates.ts';
import { stopWallClock } from '../../test/pamm/stopped-clock.ts';
import { QuoteDispatcher } from './dispatcher.ts';
import type { Endpoint } from './endpoints.ts';
import { RedisKeys } from './queue/redis-keys.ts';

/** Updates that no worker takes, as where none runs or a builder holds the one that does. */

const ENDPOINTS: readonly Endpoint[] = (['quote-stream', 'bundle'] as const).map((transport) => {
  return { id: transport, transport, url: 'http://e/', provider: `${transport}:http://e/` };
});
/** A bundle endpoint lets 256 wait. */
const COUNT = 250;

const database = startedWorld(createRedisDatabase);
const clock = stopWallClock();
let redis: Redis;
let subscriber: Redis;

beforeAll(async () => {
  redis = new Redis(database.url, { maxRetriesPerRequest: null });
  subscriber = redis.duplicate();
  await redis.ping();
});
afterAll(() => {
  redis.disconnect();
  subscriber.disconnect();
});

test('each update that a sweep removes is in the audit trail as dropped, once, whoever sweeps', async () => {
  const keys = new RedisKeys('sweep');
  const logger = createLogger('test', 'silent');
  const dispatchers = ['one', 'other'].map((name) => {
    return new QuoteDispatcher({ redis, subscriber, keys, metrics: createMetrics(name), logger });
  });
  const sweep = () => Promise.all(dispatchers.map((dispatcher) => dispatcher.sweep(ENDPOINTS)));
  const submit = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const now = Date.now();
        const options = { holder: 'h', arrivedAtMs: now, waitUntilMs: 0, queueUntilMs: now + 20_000 };
        const update = updateOf({ replacementUuid: newUuid(), maxTimestamp: BigInt(Math.floor(now / 1000) + 4) });
        await dispatchers[0]?.submit(update, ENDPOINTS, options);
      }),
    );
  /** How many outcomes each update has, and those of all. */
  const audited = async () => {
    const entries = (await redis.xrange(keys.audit(), '-', '+')).map(([, [, json = '']]) => JSON.parse(json));
    const answers = entries.filter(({ kind }) => kind === 'answer');
    return {
      ended: new Set(answers.map(({ submissionId, provider }) => `${submissionId} ${provider}`)).size,
      outcomes: answers.map(({ outcome, answeredAtMs, receivedAtMs }) => `${outcome} ${answeredAtMs - receivedAtMs}`),
    };
  };

  await submit(COUNT);
  await sweep();
  expect(await audited()).toEqual({ ended: 0, outcomes: [] });
  clock.pass(3_500);
  await submit(3);
  await sweep();
  await sweep();
  expect(await audited()).toEqual({ ended: 2 * COUNT, outcomes: Array(2 * COUNT).fill('dropped 3500') });
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()));
});
