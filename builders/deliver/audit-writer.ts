import { lt, sql } from 'drizzle-orm';
import type { Redis } from 'ioredis';
import type { Database } from '../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../db/schema/pamm-audit.ts';
import { insertRows } from '../../db/write-rows.ts';
import type { Logger } from '../../runtime/logger.ts';
import { pause } from '../../runtime/pause.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { RedisKeys } from '../submit/queue/redis-keys.ts';
import type { AuditEntry } from '../submit/update-log.ts';

const BATCH = 200;
/** Pause after a batch that was not full, so that enough entries gather for the next statement. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
const STOP_WITHIN_MS = 5_000;
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
  readonly logger: Logger;
};

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

async function writeUntil(signal: AbortSignal, { redis, keys, database, logger }: AuditWriterDeps): Promise<void> {
  while (!signal.aborted) {
    try {
      const entries = await redis.xrange(keys.audit(), '-', '+', 'COUNT', BATCH);
      const parsed = entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as AuditEntry);
      await writeEntries(database, parsed, logger);
      if (entries.length > 0) await redis.xdel(keys.audit(), ...entries.map(([id]) => id));
      if (entries.length < BATCH) await pause(GATHER_MS, signal);
    } catch (error) {
      logger.warn({ err: error }, 'audit entries wait');
      await pause(RETRY_MS, signal);
    }
  }
}

/**
 * Writes entries; those already written are left as they are. An entry that Postgres refuses is logged and left out. To
 * find it, the batch is halved until that entry stands alone.
 */
async function writeEntries(database: Database, entries: readonly AuditEntry[], logger: Logger): Promise<void> {
  try {
    await insertRows(database.$client, pammSubmissions, entries.flatMap(toSubmissionRow));
    await insertRows(database.$client, pammAnswers, entries.flatMap(toAnswerRow));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (entries.length === 1) return logger.error({ err: error, entry: entries[0] }, 'Postgres refused an audit entry');
    const middle = entries.length >>> 1;
    await writeEntries(database, entries.slice(0, middle), logger);
    await writeEntries(database, entries.slice(middle), logger);
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && REFUSALS.includes(String(error.code).slice(0, 2))) || isRefusal(error.cause);
}

function toSubmissionRow(entry: AuditEntry) {
  if (entry.kind !== 'submission') return [];
  const { kind: _, receivedAtMs, pools, ...row } = entry;
  // Entries of earlier releases name no pools.
  return { ...row, pools: [...(pools ?? [])], receivedAt: new Date(receivedAtMs), isCancel: row.txHash === null };
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
