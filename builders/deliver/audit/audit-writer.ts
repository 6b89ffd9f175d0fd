import { sql } from 'drizzle-orm';
import type { Redis } from 'ioredis';
import type { Database } from '../../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../../db/schema/pamm-audit.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { pause } from '../../../runtime/pause.ts';
import { withTimeout } from '../../../runtime/with-timeout.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import type { AuditEntry } from '../../submit/update-log.ts';
import { writeEntries } from './write-entries.ts';

const BATCH = 200;
/** Pause after a batch that was not full, so that the next one is worth a statement. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
const STOP_WITHIN_MS = 5_000;
const RETENTION_EVERY_MS = 3_600_000;
/** Rows of a table that one statement deletes: entries wait no longer than that takes. */
const DELETE_BATCH = 5_000;
const DAY_MS = 86_400_000;

export type AuditWriterDeps = {
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly database: Database;
  readonly retentionDays: number;
  readonly logger: Logger;
};

/**
 * Moves audit entries from the Redis stream to the database in batches, each at least once: an entry leaves the stream when
 * it is written. Of several writers that take the same entries one writes them. Also deletes rows past their retention.
 */
export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #retainedAt = 0;

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** Finishes the batch at hand, unless Redis is unreachable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#deps.redis.status === 'ready') await withTimeout(this.#running, STOP_WITHIN_MS);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const written = await this.#writeBatch();
        await this.#deleteOld();
        if (written < BATCH) await pause(GATHER_MS, signal);
      } catch (error) {
        this.#deps.logger.warn({ err: error }, 'audit entries wait');
        await pause(RETRY_MS, signal);
      }
    }
  }

  async #writeBatch(): Promise<number> {
    const { redis, keys, database, logger } = this.#deps;
    const entries = await redis.xrange(keys.audit(), '-', '+', 'COUNT', BATCH);
    if (entries.length === 0) return 0;
    const parsed = entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as AuditEntry);
    await writeEntries(database, parsed, logger);
    await redis.xdel(keys.audit(), ...entries.map(([id]) => id));
    return entries.length;
  }

  async #deleteOld(): Promise<void> {
    const now = Date.now();
    if (now - this.#retainedAt < RETENTION_EVERY_MS) return;
    // Noted first: a failure must not hold up each further step.
    this.#retainedAt = now;
    const isDone = await deleteOlderThan(this.#deps.database, new Date(now - this.#deps.retentionDays * DAY_MS));
    if (!isDone) this.#retainedAt = 0;
  }
}

/** Deletes a part of the old rows; those that another writer is deleting are skipped. Returns whether that was the last part. */
async function deleteOlderThan(database: Database, limit: Date): Promise<boolean> {
  let isDone = true;
  for (const table of [pammAnswers, pammSubmissions]) {
    const part = sql`SELECT ctid FROM ${table} WHERE ${table.receivedAt} < ${limit.toISOString()}
                     LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED`;
    const { rowCount } = await database.execute(sql`DELETE FROM ${table} WHERE ctid = ANY(ARRAY(${part}))`);
    if (rowCount === DELETE_BATCH) isDone = false;
  }
  return isDone;
}
