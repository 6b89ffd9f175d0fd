import type { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { updateOf } from '../../test/pamm/sample-updates.ts';
import { QueuesUnavailableError, QuoteDispatcher } from './dispatcher.ts';
import type { Endpoint } from './endpoints.ts';
import { RedisKeys } from './queue/redis-keys.ts';

const [keys, logger] = [new RedisKeys('d'), createLogger('test', 'silent')];
const subscriber = { on: () => undefined, subscribe: async () => 1 } as unknown as Redis;
const POOL = `0x${'0a'.repeat(20)}` as const;
/** Its answers come without a queue. */
const endpoint: Endpoint = { id: 'e', transport: 'bundle', url: 'http://e/', provider: 'e:http://e/' };

test('an update that a Redis which hangs queues after all is in the audit trail, and is published', async () => {
  const registered = Promise.withResolvers<string>();
  const entries: string[] = [];
  const redis = {
    status: 'ready',
    eval: (source: string) => (source.includes('foreign') ? registered.promise : Promise.resolve('')),
    xadd: async (...args: string[]) => entries.push(JSON.parse(args.at(-1) ?? '').kind),
  } as unknown as Redis;
  const dispatcher = new QuoteDispatcher({ redis, subscriber, keys, metrics: createMetrics('test'), logger });
  const onAccepted = vi.fn();
  const now = Date.now();
  const options = { holder: 'h', arrivedAtMs: now, waitUntilMs: now, queueUntilMs: now + 10, onAccepted };
  await expect(dispatcher.submit(updateOf({ tx: '0x' }), [endpoint], options)).rejects.toThrow(QueuesUnavailableError);
  expect([entries, onAccepted.mock.calls.length]).toEqual([[], 0]);
  registered.resolve('newest');
  await vi.waitFor(() => expect(entries.toSorted()).toEqual(['answer', 'submission']));
  expect(onAccepted).toHaveBeenCalledOnce();
  await dispatcher.close();
});

test('an update that no builder gets is neither published nor judged by its block: its price cannot land', async () => {
  const replies = ['newest', ['backingOff', '', 500], 'newest', ['queueFull'], 'newest', 'newest', ['duplicate', '']];
  const audited: { kind: string; pools: string[] }[] = [];
  const redis = {
    status: 'ready',
    eval: async () => replies.shift(),
    xadd: async (...args: string[]) => audited.push(JSON.parse(args.at(-1) ?? '')),
  } as unknown as Redis;
  const dispatcher = new QuoteDispatcher({ redis, subscriber, keys, metrics: createMetrics('test'), logger });
  const published: string[] = [];
  const submit = async (name: string, maxTimestamp?: bigint) => {
    const now = Date.now();
    const options = { holder: 'h', arrivedAtMs: now, waitUntilMs: now, queueUntilMs: now + 20_000 };
    const update = updateOf({ poolAddresses: [POOL], ...(maxTimestamp === undefined ? {} : { maxTimestamp }) });
    await dispatcher.submit(update, [endpoint], { ...options, onAccepted: () => published.push(name) });
  };
  await submit('paused', 1n);
  await submit('full', 1n);
  await submit('without a time');
  expect(published).toEqual([]);
  await submit('queued before', 1n);
  expect(published).toEqual(['queued before']);
  const submissions = audited.filter(({ kind }) => kind === 'submission');
  expect(submissions.map(({ pools }) => pools)).toEqual([[], [], [], [POOL]]);
  await dispatcher.close();
});
