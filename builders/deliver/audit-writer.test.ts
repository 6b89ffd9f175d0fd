import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { create, toBinary } from '@bufbuild/protobuf';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Registry } from 'prom-client';
import { keccak256 } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { connectQueueing } from '../../runtime/redis-connections.ts';
import { createMigratedDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createRedisDatabase, type TestRedis } from '../../test/harness/redis.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { submissionOf } from '../../test/pamm/sample-updates.ts';
import { PWebsocketQuoteUpdateV1ResponseSchema } from '../proto/generated/quote_update_pb.ts';
import type { Endpoint } from '../submit/endpoints.ts';
import { RedisKeys } from '../submit/queue/redis-keys.ts';
import { UpdateLog } from '../submit/update-log.ts';
import { startAuditWriter } from './audit-writer.ts';
import { decodeResponse } from './stream/quote-stream-codec.ts';

const logger = createLogger('test', 'silent');
const keys = new RedisKeys(`t${randomBytes(6).toString('hex')}`);
const endpoint: Endpoint = {
  id: 'e',
  transport: 'bundle',
  url: 'http://builder/',
  provider: 'builder:http://builder/',
  apiKey: 'builder-secret',
};
const MAX_UINT64 = 2n ** 64n - 1n;
const POOL = `0x${'0a'.repeat(20)}` as const;

let postgres: TestDatabase;
let redisDatabase: TestRedis;
let redis: Redis;
let database: Database;

beforeAll(async () => {
  [postgres, redisDatabase] = await Promise.all([createMigratedDatabase(), createRedisDatabase()]);
  redis = new Redis(redisDatabase.url);
  database = openDatabase(postgres.url, 'ptd_builders', logger, { max: 2 });
});
afterAll(async () => {
  redis.disconnect();
  await database.$client.end();
  await Promise.all([postgres.drop(), redisDatabase.drop()]);
});

const startWriter = (retentionDays = 30, metrics = new Registry()) =>
  startAuditWriter({ redis, keys, database, retentionDays, metrics, logger });

const newLog = () => new UpdateLog(redis, keys, new Registry(), logger);

const rows = async (sql: string, values: unknown[] = []) => (await database.$client.query(sql, values)).rows;

/** A submission whose id is a UUID, as the dispatcher gives. */
const submission = (...args: Parameters<typeof submissionOf>) => ({ ...submissionOf(...args), id: randomUUID() });

test('submissions and outcomes become rows, each once, uint64 whole and without keys', async () => {
  const log = newLog();
  const live = submission({
    blockNumber: MAX_UINT64,
    replacementSeqNumber: 2n ** 53n + 1n,
    maxTimestamp: 1_900_000_000n,
  });
  const cancel = submission({ tx: '0x' });
  const writer = startWriter();
  log.submitted(live, false);
  log.submitted(live, false);
  log.submitted(cancel, false);
  log.note(endpoint, live, { accepted: true, bundleHash: '0xab', timestampNs: MAX_UINT64 });
  log.note(endpoint, live, 'unanswered');
  log.note(endpoint, cancel, { accepted: false, error: 'skipped: the request was a cancel' });
  await eventually(async () => (await rows('SELECT 1 FROM operator.pamm_answer')).length === 2);

  expect(await rows('SELECT * FROM operator.pamm_submission WHERE submission_id = $1', [live.id])).toEqual([
    {
      submission_id: live.id,
      chain_id: '31338',
      received_at: new Date(live.arrivedAtMs),
      replacement_uuid: live.update.replacementUuid,
      replacement_seq_number: '9007199254740993',
      block_number: '18446744073709551615',
      max_timestamp: '1900000000',
      is_cancel: false,
      tx_hash: keccak256(live.update.tx),
      pools: '{}',
      has_landed: null,
    },
  ]);
  expect(await rows('SELECT is_cancel, tx_hash FROM operator.pamm_submission WHERE is_cancel')).toEqual([
    { is_cancel: true, tx_hash: null },
  ]);
  const answers = await rows('SELECT * FROM operator.pamm_answer ORDER BY outcome');
  expect(answers).toMatchObject([
    { outcome: 'accepted', bundle_hash: '0xab', builder_timestamp_ns: '18446744073709551615', error: null },
    { outcome: 'skipped', error: 'skipped: the request was a cancel', provider: endpoint.provider },
  ]);
  expect(JSON.stringify(answers)).not.toContain('builder-secret');
  await eventually(async () => (await redis.xlen(keys.audit())) === 0);
  await writer.stop();
});

test('whatever a builder said becomes a row, and holds up no other', async () => {
  const log = newLog();
  const endsInHalf = `${'x'.repeat(499)}\u{1f600}`;
  const refused = ['nul \0', 'half \ud83d', endsInHalf].map((said) => {
    const one = submission();
    const frame = { replacementUuid: new Uint8Array(16), replacementSeqNumber: 1n, error: said };
    const bytes = toBinary(PWebsocketQuoteUpdateV1ResponseSchema, create(PWebsocketQuoteUpdateV1ResponseSchema, frame));
    log.note(endpoint, one, decodeResponse(bytes).answer);
    return one.id;
  });
  const writer = startWriter();
  const find = () => rows('SELECT error FROM operator.pamm_answer WHERE submission_id = ANY($1)', [refused]);
  await eventually(async () => (await find()).length === refused.length);
  await writer.stop();
});

test('an entry that Postgres refuses is left out, and its batch is written', async () => {
  const log = newLog();
  const batch = [submission(), submission({ replacementSeqNumber: 10n ** 30n }), submission(), submission()];
  for (const one of batch) log.submitted(one, false);
  const writer = startWriter();
  const ids = batch.map(({ id }) => id);
  await eventually(async () => (await redis.xlen(keys.audit())) === 0);
  await writer.stop();
  const written = await rows('SELECT submission_id FROM operator.pamm_submission WHERE submission_id = ANY($1)', [ids]);
  expect(written.map((row) => row.submission_id).sort()).toEqual(ids.filter((_, index) => index !== 1).sort());
});

/** Entries that no release writes. */
const MALFORMED = [
  'no JSON',
  '',
  'null',
  '7',
  '[]',
  '{}',
  '{"kind":"other"}',
  '{"kind":"submission"}',
  JSON.stringify({ kind: 'answer', submissionId: randomUUID(), receivedAtMs: 1e300 }),
];

test('a malformed entry is set aside and counted, and all others are written', async () => {
  await redis.del(keys.audit(), keys.rejectedAudit());
  const log = newLog();
  const metrics = new Registry();
  const good = [...MALFORMED, ''].map(() => submission());
  for (const [index, one] of good.entries()) {
    log.submitted(one, false);
    const malformed = MALFORMED[index];
    if (malformed !== undefined) await redis.xadd(keys.audit(), '*', 'entry', malformed);
  }
  await redis.xadd(keys.audit(), '*', 'other', 'field');
  log.submitted(submission({ replacementSeqNumber: 10n ** 30n }), false);
  const late = submission();
  log.submitted(late, false);
  await eventually(async () => (await redis.xlen(keys.audit())) > good.length);
  const noted = await redis.xlen(keys.audit());
  const unwritable = openDatabase(postgres.url.replace(/\/[^/]*$/, '/none'), 'ptd_builders', logger, { max: 1 });
  const unable = startAuditWriter({ redis, keys, database: unwritable, retentionDays: 30, metrics, logger });
  const waiting = async () => (await metrics.getSingleMetric('pamm_audit_waiting')?.get())?.values[0]?.value;
  expect(await waiting()).toBe(noted);
  await unable.stop();
  await unwritable.$client.end();
  metrics.clear();
  const writer = startWriter(30, metrics);
  await eventually(async () => (await redis.xlen(keys.audit())) === 0);
  expect(await waiting()).toBe(0);
  await writer.stop();
  const ids = [...good, late].map(({ id }) => id);
  const written = await rows('SELECT submission_id FROM operator.pamm_submission WHERE submission_id = ANY($1)', [ids]);
  expect(written.map((row) => row.submission_id).sort()).toEqual(ids.sort());

  const aside = await redis.xrange(keys.rejectedAudit(), '-', '+');
  expect(aside.map(([, [, json, , reason]]) => [reason, json])).toEqual([
    ...MALFORMED.map((json) => ['malformed', json]),
    ['malformed', expect.anything()],
    ['refused', expect.stringContaining('1'.padEnd(31, '0'))],
  ]);
  const { values } = (await metrics.getSingleMetric('pamm_audit_rejected_total')?.get()) ?? { values: [] };
  const counts = values.map(({ labels, value }) => [labels.reason, value]);
  expect(counts).toEqual([
    ['malformed', MALFORMED.length + 1],
    ['refused', 1],
  ]);
});

test('how many entries wait is missing while Redis is unreachable, which an alert reads', async () => {
  const metrics = new Registry();
  const unreachable = connectQueueing('redis://127.0.0.1:1', logger);
  const writer = startAuditWriter({ redis: unreachable, keys, database, retentionDays: 30, metrics, logger });
  expect(await metrics.metrics()).not.toMatch(/^pamm_audit_waiting /m);
  expect(readFileSync(new URL('../../ops/alerts.yml', import.meta.url), 'utf8')).toContain(
    'absent(pamm_audit_waiting)',
  );
  unreachable.disconnect();
  await writer.stop();
});

test('pools are kept of updates that are published alone', async () => {
  const [own, secret] = [submission({ poolAddresses: [POOL] }), submission({ poolAddresses: [POOL] })];
  const log = newLog();
  log.submitted(own, true);
  log.submitted(secret, false);
  const writer = startWriter();
  const find = () =>
    rows('SELECT submission_id AS id, pools FROM operator.pamm_submission WHERE submission_id = ANY ($1)', [
      [own.id, secret.id],
    ]);
  await eventually(async () => (await find()).length === 2);
  expect(new Map((await find()).map(({ id, pools }) => [id, pools]))).toEqual(
    new Map([
      [own.id, `{${POOL}}`],
      [secret.id, '{}'],
    ]),
  );
  await writer.stop();
});

test('analysts read the trail through the read model, and cannot change it', async () => {
  const client = await database.$client.connect();
  try {
    await client.query('SET ROLE analyst');
    const { rows: seen } = await client.query(
      'SELECT outcome FROM read_model.pamm_submission JOIN read_model.pamm_answer USING (submission_id) ORDER BY 1',
    );
    expect(seen).toEqual([{ outcome: 'accepted' }, { outcome: 'skipped' }]);
    await expect(client.query('DELETE FROM read_model.pamm_answer')).rejects.toThrow('permission denied');
  } finally {
    await client.query('RESET ROLE');
    client.release();
  }
});

test('what could not be written waits until the database is back, and of two writers one writes it', async () => {
  const log = newLog();
  await database.$client.query('SET ROLE NONE; ALTER TABLE operator.pamm_submission RENAME TO away; RESET ROLE');
  const waits = vi.spyOn(logger, 'warn');
  onTestFinished(() => waits.mockRestore());
  const waiting = submission();
  log.submitted(waiting, false);
  const both = [startWriter(), startWriter()];
  await eventually(
    () => waits.mock.calls.filter(([, message]) => String(message) === 'audit entries wait').length === 2,
  );
  expect(await redis.xlen(keys.audit())).toBe(1);
  await database.$client.query('SET ROLE NONE; ALTER TABLE operator.away RENAME TO pamm_submission; RESET ROLE');
  await eventually(
    async () =>
      (await rows('SELECT 1 FROM operator.pamm_submission WHERE submission_id = $1', [waiting.id])).length === 1,
  );
  await eventually(async () => (await redis.xlen(keys.audit())) === 0);
  await Promise.all(both.map((each) => each.stop()));
});

test('a writer that has never reached Redis stops at once', async () => {
  const unreachable = connectQueueing('redis://127.0.0.1:1', logger);
  const writer = startAuditWriter({
    redis: unreachable,
    keys,
    database,
    retentionDays: 1,
    metrics: new Registry(),
    logger,
  });
  await eventually(() => unreachable.status === 'reconnecting');
  await writer.stop();
  unreachable.disconnect();
});

test('rows past their retention are deleted', async () => {
  const log = newLog();
  const old = submission({}, Date.now() - 3 * 86_400_000);
  log.submitted(old, false);
  log.note(endpoint, old, 'dropped');
  const writer = startWriter();
  const find = () => rows('SELECT 1 FROM operator.pamm_submission WHERE submission_id = $1', [old.id]);
  await eventually(async () => (await find()).length === 1);
  await writer.stop();
  const shorter = startWriter(2);
  await eventually(async () => (await find()).length === 0);
  expect(await rows("SELECT 1 FROM operator.pamm_answer WHERE outcome = 'dropped'")).toEqual([]);
  expect((await rows('SELECT 1 FROM operator.pamm_submission')).length).toBeGreaterThan(0);
  await shorter.stop();
});

test('rows past their retention are deleted in parts, and one that another holds stops nothing', async () => {
  const log = newLog();
  await database.$client.query(
    `INSERT INTO operator.pamm_answer (submission_id, provider, chain_id, received_at, outcome, answered_at, latency_ms)
     SELECT gen_random_uuid(), 'old', 1, now() - interval '3 days', 'dropped', now(), n FROM generate_series(1, 12000) n`,
  );
  const old = async () =>
    Number((await rows("SELECT count(*) FROM operator.pamm_answer WHERE provider = 'old'"))[0].count);
  const holder = new pg.Client({ connectionString: postgres.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query("SELECT 1 FROM operator.pamm_answer WHERE provider = 'old' AND latency_ms = 1 FOR UPDATE");
  const writer = startWriter(2);
  try {
    const fresh = submission();
    log.submitted(fresh, false);
    await eventually(async () => (await old()) === 1);
    const find = () => rows('SELECT 1 FROM operator.pamm_submission WHERE submission_id = $1', [fresh.id]);
    await eventually(async () => (await find()).length === 1);
  } finally {
    await holder.end();
    await writer.stop();
  }
});
