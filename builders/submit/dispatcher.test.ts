import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { updateOf } from '../../test/pamm/sample-updates.ts';
import { QueuesUnavailableError, QuoteDispatcher } from './dispatcher.ts';
import type { Endpoint } from './endpoints.ts';
import { RedisKeys } from './queue/redis-keys.ts';

test('an update that a Redis which hangs queues after all is in the audit trail, and is published', async () => {
  const registered = Promise.withResolvers<string>();
  const entries: string[] = [];
  const redis = {
    status: 'ready',
    eval: () => registered.promise,
    xadd: async (...args: string[]) => entries.push(JSON.parse(args.at(-1) ?? '').kind),
  } as unknown as Redis;
  const subscriber = { on: () => undefined, subscribe: async () => 1 } as unknown as Redis;
  const [keys, metrics, logger] = [new RedisKeys('d'), createMetrics('test'), createLogger('test', 'silent')];
  const dispatcher = new QuoteDispatcher({ redis, subscriber, keys, metrics, logger });
  // Its queue is answered without Redis.
  const endpoint: Endpoint = { id: 'e', transport: 'bundle', url: 'http://e/', provider: 'e:http://e/' };
  const onAccepted = vi.fn();
  const now = Date.now();
  const options = { holder: 'h', arrivedAtMs: now, waitUntilMs: now, queueUntilMs: now + 10, onAccepted };
  await expect(dispatcher.submit(updateOf(), [endpoint], options)).rejects.toThrow(QueuesUnavailableError);
  expect([entries, onAccepted.mock.calls.length]).toEqual([[], 0]);
  registered.resolve('newest');
  await vi.waitFor(() => expect(entries.toSorted()).toEqual(['answer', 'submission']));
  expect(onAccepted).toHaveBeenCalledOnce();
  await dispatcher.close();
});
