import { lt, sql } from 'drizzle-orm';
import type { Redis } from 'ioredis';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../db/schema/pamm-audit.ts';
import { insertRows } from '../../db/write-rows.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { pause } from '../../runtime/pause.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type AuditEntry, readAuditEntry } from '../submit/audit-entry.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';

const BATCH = 200;
/** Pause after a batch that was not full, so that enough entries gather for the next statement. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
/** Most entries that are kept of those which were not written. */
const MAX_REJECTED = 1_000;
const STOP_WITHIN_MS = 5_000;
/** Longest wait of a scrape for a Redis that hangs. */
const LENGTH_TIMEOUT_MS = 1_000;
const RETENTION_EVERY_MS = 3_600_000;
/** Most rows of a table that one statement deletes: with more, it could exceed the statement timeout. */
const DELETE_BATCH = 5_000;
const DAY_MS = 86_400_000;
/** SQLSTATE classes of a row that Postgres will never take: data exception, constraint violation. */
const REFUSALS = ['22', '23'];

export type AuditWriterDeps = {
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly database: Database;
  readonly retentionDays: number;
  readonly metrics: Registry;
  readonly logger: Logger;
};

/** An entry as it is in the stream: its id there, and its JSON. */
type StreamEntry = readonly [id: string, json: string];
/** Why an entry was not written: `malformed`, or `refused` by Postgres with this error. */
type Rejection = { readonly entry: StreamEntry; readonly reason: 'malformed' | 'refused'; readonly error?: Error };

/**
 * Moves audit entries from the Redis stream to the database in batches, each at least once: an entry leaves the stream
 * after it is written. When several writers take the same entries, one of them writes these. Also deletes rows past
 * their retention.
 *
 * @returns `stop` finishes the current batch, unless Redis is unreachable
 */
export function startAuditWriter(deps: AuditWriterDeps): { stop(): Promise<void> } {
  const { redis, database, retentionDays, logger } = deps;
  const stopping = new AbortController();
  const writing = writeUntil(stopping.signal, deps);
  showWaiting(deps);
  const stopDeleting = startRepeating(async () => {
    await deleteOlderThan(database, new Date(Date.now() - retentionDays * DAY_MS), stopping.signal).catch(
      (error: unknown) => logger.warn({ err: error }, 'old rows of the audit trail were not deleted'),
    );
  }, RETENTION_EVERY_MS);
  return {
    async stop() {
      stopDeleting();
      stopping.abort();
      if (redis.status === 'ready') await withTimeout(writing, STOP_WITHIN_MS);
    },
  };
}

/** Exports how many entries the stream holds: it drops the oldest of too many. */
function showWaiting({ redis, keys, metrics, logger }: AuditWriterDeps): void {
  const gauge = new Gauge({
    name: 'pamm_audit_waiting',
    help: 'Entries of the audit trail that are not written yet',
    registers: [metrics],
    async collect() {
      gauge.remove();
      if (redis.status !== 'ready') return;
      try {
        gauge.set(await withTimeout(redis.xlen(keys.audit()), LENGTH_TIMEOUT_MS));
      } catch (error) {
        logger.warn({ err: error }, 'how many audit entries wait is unknown');
      }
    },
  });
}

async function writeUntil(signal: AbortSignal, deps: AuditWriterDeps): Promise<void> {
  const { redis, keys, database, metrics, logger } = deps;
  const outage = new OutageLog(logger, { begin: 'audit entries wait', end: 'audit entries are written again' });
  const rejected = new Counter({
    name: 'pamm_audit_rejected_total',
    help: 'Entries of the audit trail that were set aside, by reason: malformed, or refused by Postgres',
    labelNames: ['reason'],
    registers: [metrics],
  });
  for (const reason of ['malformed', 'refused']) rejected.inc({ reason }, 0);
  while (!signal.aborted) {
    try {
      const found = await redis.xrange(keys.audit(), '-', '+', 'COUNT', BATCH);
      const entries = found.map(([id, fields]): StreamEntry => [id, fields[1] ?? '']);
      const rejections = await writeEntries(database, entries);
      if (rejections.length > 0) await setAside(deps, rejections);
      if (entries.length > 0) await redis.xdel(keys.audit(), ...entries.map(([id]) => id));
      for (const { reason } of rejections) rejected.inc({ reason });
      outage.worked();
      if (entries.length < BATCH) await pause(GATHER_MS, signal);
    } catch (error) {
      outage.failed(error);
      await pause(RETRY_MS, signal);
    }
  }
}

/** Keeps entries that were not written, the newest of them, and logs the first of these. */
async function setAside({ redis, keys, logger }: AuditWriterDeps, rejections: readonly Rejection[]): Promise<void> {
  const adding = redis.pipeline();
  for (const { entry, reason } of rejections)
    adding.xadd(keys.rejectedAudit(), 'MAXLEN', '~', MAX_REJECTED, '*', 'entry', entry[1], 'reason', reason);
  const failure = (await adding.exec())?.find(([error]) => error !== null)?.[0];
  if (failure) throw failure;
  const [{ entry, reason, error } = {}] = rejections;
  logger.error({ err: error, entries: rejections.length, reason, entry: entry?.[0] }, 'audit entries were set aside');
}

/** Writes entries; those already written are left as they are. @returns those that were not written */
async function writeEntries(database: Database, entries: readonly StreamEntry[]): Promise<Rejection[]> {
  const read = entries.map((entry) => [entry, readAuditEntry(entry[1])] as const);
  const malformed = read.flatMap(([entry, value]) => (value ? [] : [{ entry, reason: 'malformed' as const }]));
  const values = read.flatMap(([entry, value]) => (value ? [[entry, value] as const] : []));
  return [...malformed, ...(await writeValues(database, values))];
}

/** To find an entry that Postgres refuses, the batch is halved until that entry stands alone. */
async function writeValues(
  database: Database,
  values: readonly (readonly [StreamEntry, AuditEntry])[],
): Promise<Rejection[]> {
  try {
    await insertRows(
      database.$client,
      pammSubmissions,
      values.flatMap(([, value]) => toSubmissionRow(value)),
    );
    await insertRows(
      database.$client,
      pammAnswers,
      values.flatMap(([, value]) => toAnswerRow(value)),
    );
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const [only] = values;
    if (only && values.length === 1) return [{ entry: only[0], reason: 'refused', error }];
    const middle = values.length >>> 1;
    const first = await writeValues(database, values.slice(0, middle));
    return [...first, ...(await writeValues(database, values.slice(middle)))];
  }
}

function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return ('code' in error && REFUSALS.includes(String(error.code).slice(0, 2))) || isRefusal(error.cause);
}

function toSubmissionRow(entry: AuditEntry) {
  if (entry.kind !== 'submission') return [];
  const { kind: _, receivedAtMs, ...row } = entry;
  return { ...row, receivedAt: new Date(receivedAtMs), isCancel: row.txHash === null };
}

function toAnswerRow(entry: AuditEntry) {
  if (entry.kind !== 'answer') return [];
  const { kind: _, receivedAtMs, answeredAtMs, ...row } = entry;
  const latencyMs = Math.max(0, answeredAtMs - receivedAtMs);
  return { ...row, receivedAt: new Date(receivedAtMs), answeredAt: new Date(answeredAtMs), latencyMs };
}

/** Deletes old rows in parts, and skips rows that another writer is deleting. */
async function deleteOlderThan(database: Database, limit: Date, signal: AbortSignal): Promise<void> {
  for (const table of [pammAnswers, pammSubmissions]) {
    const part = database
      .select({ row: sql`ctid` })
      .from(table)
      .where(lt(table.receivedAt, limit))
      .limit(DELETE_BATCH)
      .for('update', { skipLocked: true });
    let deleted: number | null = DELETE_BATCH;
    while (deleted === DELETE_BATCH && !signal.aborted) {
      deleted = (await database.delete(table).where(sql`ctid = ANY (ARRAY${part})`)).rowCount;
    }
  }
}
