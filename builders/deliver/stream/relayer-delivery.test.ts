import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { acquireLease } from '../../../runtime/lease/lease.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';
import { eventually } from '../../../test/pamm/eventually.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import type { AuditEntry } from '../../submit/audit-entry.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { Hex, Submission } from '../../submit/quote-update.ts';
import { UpdateLog } from '../../submit/update-log.ts';
import { RELAYER } from './relayer-codec.ts';
import { StreamDelivery } from './stream-delivery.ts';

/** A relayer of the test, which holds every call until the test says what the response is. */

interface Call {
  readonly id: string;
  readonly uuid: string;
  readonly seq: number;
  readonly respond: (text: string) => void;
}

const database = startedWorld(createRedisDatabase);
let redis: Redis;
const calls: Call[] = [];
const server = createServer(async (request, response) => addCall(await text(request), (body) => response.end(body)));
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket) =>
  socket.on('message', (data) => addCall(String(data), (response) => socket.send(response))),
);

function addCall(body: string, respond: Call['respond']): void {
  const { id, params } = JSON.parse(body);
  calls.push({ id, uuid: params[0].uuid, seq: params[0].seq, respond });
}

beforeAll(async () => {
  redis = new Redis(database.url);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  redis.disconnect();
});

async function startDelivery(scheme: 'ws' | 'http') {
  const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const endpoint: Endpoint = { id: scheme, transport: 'relayer', url, provider: `relayer:${url}` };
  const keys = new RedisKeys(`d${scheme}`);
  const logger = createLogger('test', 'silent');
  const lease = await acquireLease({ redis, keys: keys.leaseKeys(endpoint.id), durationMs: 300_000, comesFirst: true });
  if (!lease) throw new Error('no lease');
  const delivery = new StreamDelivery({
    endpoint,
    redis,
    keys,
    log: new UpdateLog(redis, keys, createMetrics('test'), logger),
    logger,
    lease,
    codec: RELAYER,
    sent: new LRUCache<Hex, bigint>({ max: 100 }),
    onUpdate: () => undefined,
    dialTimes: { minPauseMs: 100, maxPauseMs: 400 },
  });
  /** How submissions ended, by their ids. */
  const ends = async () => {
    const entries = await redis.xrange(keys.audit(), '-', '+');
    const answers = entries.map(([, [, json = '']]) => JSON.parse(json) as AuditEntry);
    return new Map(answers.flatMap((each) => (each.kind === 'answer' ? [[each.submissionId, each] as const] : [])));
  };
  return { delivery, ends };
}

/** The response to an update: a time of its own tells whose it is. */
const planned = fc.record({
  uuid: fc.integer({ min: 0, max: 3 }),
  error: fc.constantFrom('', 'stale seq', 'relayer busy, retry'),
  /** What comes before the response. */
  noise: fc.constantFrom('none', 'garbage', 'unknown id', 'null id', 'repeated'),
  rank: fc.nat(),
});

test.each([
  ['a WebSocket', 'ws'],
  ['HTTP', 'http'],
] as const)(
  'over %s any number of updates is in flight, and each gets the response under its id',
  async (_name, scheme) => {
    const { delivery, ends } = await startDelivery(scheme);
    let nextTime = 1;
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 16 }), async (plans) => {
        calls.length = 0;
        const uuids = Array.from({ length: 4 }, () => submissionOf().id.slice(0, 32));
        const updates = plans.map((plan, index) => {
          const replacementUuid: Hex = `0x${uuids[plan.uuid]}`;
          const update = { replacementUuid, replacementSeqNumber: BigInt(index + 1) };
          // A minute: a busy machine may take three seconds.
          const submission = submissionOf(update, Date.now() + 60_000);
          return { ...plan, submission, timeMs: nextTime++ };
        });
        for (const { submission } of updates) await delivery.process(submission);
        // Nothing is answered before everything is there.
        await eventually(() => calls.length === updates.length);
        if (scheme === 'ws') expect(calls.map(({ seq }) => seq)).toEqual(updates.map((_, index) => index + 1));

        const callOf = ({ update }: Submission) =>
          calls.find(({ seq }) => BigInt(seq) === update.replacementSeqNumber) as Call;
        for (const { submission, timeMs, error, noise } of updates.toSorted((a, b) => a.rank - b.rank)) {
          const { id, uuid, seq, respond } = callOf(submission);
          expect(uuid).toBe(submission.update.replacementUuid);
          const response = (to: unknown, result: object) => JSON.stringify({ jsonrpc: '2.0', id: to, result });
          const result = { uuid, seq, timestamp: timeMs, ...(error !== '' && { error }) };
          // A response of HTTP comes once.
          if (scheme === 'ws') {
            if (noise === 'garbage') respond('{');
            if (noise === 'unknown id') respond(response(`${uuid}:999`, { ...result, error: 'of another' }));
            if (noise === 'null id') respond(response(null, { ...result, error: 'of nobody' }));
          }
          respond(response(id, result));
          if (scheme === 'ws' && noise === 'repeated') respond(response(id, { ...result, error: 'again' }));
        }
        const ended = await eventually(async () => {
          const all = await ends();
          return updates.every(({ submission }) => all.has(submission.id)) && all;
        });
        for (const { submission, timeMs, error } of updates) {
          expect(ended.get(submission.id)).toMatchObject(
            error === ''
              ? { outcome: 'accepted', error: null, builderTimestampNs: `${timeMs}000000` }
              : { outcome: 'rejected', error, builderTimestampNs: null },
          );
        }
      }),
      { numRuns: runs(40) },
    );
    await delivery.stop(false);
  },
  120_000,
);
