import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { Lease } from '../../../runtime/lease/lease.ts';
import { createLogger, type Logger } from '../../../runtime/logger.ts';
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

/** A delivery to a relayer, and its lease. */
function startDelivery(url: string, logger: Logger) {
  const keys = new RedisKeys('d');
  const lease = new Lease({ redis, keys: keys.leaseKeys('e'), durationMs: LEASE_MS }, '1', performance.now());
  const delivery = new StreamDelivery({
    endpoint: { id: 'e', transport: 'relayer', url, provider: `e:${url}` },
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
  return { delivery, lease };
}

test('what waits for a connection is given back when the lease ends, however often it was renewed', async () => {
  stopTime();
  const { delivery, lease } = startDelivery(URL, createLogger('test', 'silent'));
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

test('long frames that are no acknowledgements, however many, are one short line of the log', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  const key = 'x'.repeat(100_000);
  server.on('connection', (client) => {
    for (let frame = 0; frame < 20; frame += 1) client.send(`{"${key}":1,"${key}":1}`);
    client.close();
  });
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const { delivery } = startDelivery(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, logger);
  await vi.waitUntil(() => lines.some((line) => line.includes('connection closed')));
  const said = lines.filter((line) => line.includes('acknowledgement'));
  expect(said).toEqual([expect.stringContaining('Duplicate key')]);
  expect(said.join('').length).toBeLessThan(1_000);
  await delivery.stop(false);
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
