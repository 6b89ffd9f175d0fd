import type { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Lease } from '../../../runtime/lease/lease.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { UpdateLog } from '../../submit/update-log.ts';
import { BundleDelivery } from './bundle-delivery.ts';

test('a request without a verdict counts as failed, and is rejected in the audit trail', async () => {
  const replies: unknown[] = ['send', [500]];
  const audit: { outcome: string }[] = [];
  const redis = {
    eval: async () => replies.shift(),
    publish: async () => 0,
    xadd: async (...args: string[]) => audit.push(JSON.parse(args.at(-1) ?? '')),
  } as unknown as Redis;
  const [keys, metrics, logger] = [new RedisKeys('d'), new Registry(), createLogger('test', 'silent')];
  const endpoint: Endpoint = { id: 'e', transport: 'bundle', url: 'http://127.0.0.1:1/', provider: 'e:http://e/' };
  const lease = { isHeld: () => true, fence: '1' } as Lease;
  const log = new UpdateLog(redis, keys, metrics, logger);
  const delivery = new BundleDelivery({ endpoint, redis, keys, log, logger, lease });
  await delivery.process(submissionOf({ maxTimestamp: 1_800_000_000n }));
  expect(audit.map(({ outcome }) => outcome)).toEqual(['rejected']);
  const counted = await metrics.getSingleMetric('pamm_outcomes_total')?.get();
  expect(counted?.values).toEqual([{ labels: { provider: 'e', outcome: 'failed' }, value: 1 }]);
});
