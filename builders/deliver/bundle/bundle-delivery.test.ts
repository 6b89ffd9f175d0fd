import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import type { Lease } from '../../../runtime/lease/lease.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { pass, stopTime, until } from '../../../test/harness/stopped-time.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import { MAX_AHEAD_MS } from '../../submit/bundle/bundle-state.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { Submission } from '../../submit/quote-update.ts';
import { UpdateLog } from '../../submit/update-log.ts';
import { BundleDelivery } from './bundle-delivery.ts';

/** What is written when an update is sent to a builder, and the failure begins a pause. */
async function sendTo(url: string, submission: Submission) {
  const replies: unknown[] = [['send'], [500]];
  const audit: { outcome: string; error: string }[] = [];
  const redis = {
    eval: async () => replies.shift(),
    publish: async () => 0,
    xadd: async (...args: string[]) => audit.push(JSON.parse(args.at(-1) ?? '')),
  } as unknown as Redis;
  const [keys, metrics, logger] = [new RedisKeys('d'), new Registry(), createLogger('test', 'silent')];
  const endpoint: Endpoint = { id: 'e', transport: 'bundle', url, provider: 'e:http://e/' };
  const lease = { isHeld: () => true, fence: '1' } as Lease;
  const log = new UpdateLog(redis, keys, metrics, logger);
  const delivery = new BundleDelivery({ endpoint, redis, keys, log, logger, lease });
  await delivery.process(submission);
  return { audit, metrics };
}

test('a request without a verdict counts as failed, and is rejected in the audit trail', async () => {
  const update = { maxTimestamp: 1_800_000_000n };
  const { audit, metrics } = await sendTo('http://127.0.0.1:1/', submissionOf(update));
  expect(audit.map(({ outcome }) => outcome)).toEqual(['rejected']);
  const counted = await metrics.getSingleMetric('pamm_outcomes_total')?.get();
  expect(counted?.values).toEqual([{ labels: { provider: 'e', outcome: 'failed' }, value: 1 }]);
});

test('a request ends within a minute, also for an API whose clock is an hour ahead', async () => {
  stopTime();
  let requests = 0;
  const server = createServer(() => {
    requests += 1;
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const submission = submissionOf({ maxTimestamp: 1_800_000_000n }, Date.now() + 3_600_000);
  let audit: readonly { error: string }[] = [];
  const sending = sendTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, submission);
  sending.then((sent) => {
    audit = sent.audit;
  });
  await until(() => requests === 1);
  await pass(MAX_AHEAD_MS);
  await until(() => audit.length === 1);
  expect(audit).toMatchObject([{ error: 'the builder did not answer in time' }]);
});
