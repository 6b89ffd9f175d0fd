import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Redis } from 'ioredis';
import type { Database } from '../../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../../db/schema/pamm-audit.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { AuditEntry } from '../../submit/audit-log.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { writeEntries } from './write-entries.ts';

const GROUP = 'writers';
const BATCH = 200;
const BLOCK_MS = 1_000;
/** Pause after a batch that was not full, so that the next one is worth a statement. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
/** Entries that another writer took and did not finish for this long are taken over. */
const ABANDONED_MS = 15_000;
const RETENTION_EVERY_MS = 3_600_000;
/** Rows of a table that one statement deletes: entries wait no longer than that takes. */
const DELETED_AT_ONCE = 5_000;
const DAY_MS = 86_400_000;

export type AuditWriterDeps = {
  /** A connection of its own, since it blocks while it waits for entries. */
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly database: Database;
  readonly retentionDays: number;
  readonly logger: Logger;
};

type Entries = [id: string, fields: string[]][];

/**
 * Moves audit entries from the Redis stream to the database in batches, each at least once: what is not written stays
 * in the stream. Several writers share the work. Also deletes rows past their retention.
 */
export class AuditWriter {
  readonly #deps: AuditWriterDeps;
  readonly #consumer = `${hostname()}-${process.pid}`;
  readonly #running: Promise<void>;
  #stopping = false;
  #retainedAt = 0;
  #claimedAt = 0;

  constructor(deps: AuditWriterDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** Finishes the batch at hand and closes the connection. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const { redis } = this.#deps;
    const closed = new Promise((resolve) => redis.once('close', resolve));
    // Without Redis the read under way never settles: the driver forgets commands that wait between two attempts.
    if (redis.status === 'ready') await Promise.race([this.#running, closed]);
    redis.disconnect();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#createGroup();
        while (!this.#stopping) await this.#step();
      } catch (error) {
        if (this.#stopping) return;
        this.#deps.logger.warn({ err: error }, 'audit entries wait');
        await sleep(RETRY_MS);
      }
    }
  }

  async #step(): Promise<void> {
    const now = Date.now();
    if (now - this.#claimedAt >= ABANDONED_MS) {
      await this.#write(await this.#claimAbandoned());
      this.#claimedAt = now;
    }
    const entries = await this.#read();
    await this.#write(entries);
    if (entries.length > 0 && entries.length < BATCH) await sleep(GATHER_MS);
    if (now - this.#retainedAt >= RETENTION_EVERY_MS) {
      // Noted first: a failure must not hold up each further step.
      this.#retainedAt = now;
      const isDone = await deleteOlderThan(this.#deps.database, new Date(now - this.#deps.retentionDays * DAY_MS));
      if (!isDone) this.#retainedAt = 0;
    }
  }

  async #createGroup(): Promise<void> {
    const { redis, keys } = this.#deps;
    await redis.xgroup('CREATE', keys.audit(), GROUP, '0', 'MKSTREAM').catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
    });
  }

  async #read(): Promise<Entries> {
    const { redis, keys } = this.#deps;
    const reply = await redis.xreadgroup(
      ...(['GROUP', GROUP, this.#consumer, 'COUNT', BATCH, 'BLOCK', BLOCK_MS, 'STREAMS', keys.audit(), '>'] as const),
    );
    const streams = (reply ?? []) as [string, Entries][];
    return streams.flatMap(([, entries]) => entries);
  }

  async #claimAbandoned(): Promise<Entries> {
    const { redis, keys } = this.#deps;
    const reply = await redis.xautoclaim(keys.audit(), GROUP, this.#consumer, ABANDONED_MS, '0-0', 'COUNT', BATCH);
    return (reply as [string, Entries])[1];
  }

  async #write(entries: Entries): Promise<void> {
    if (entries.length === 0) return;
    const { database, redis, keys, logger } = this.#deps;
    const parsed = entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as AuditEntry);
    await writeEntries(database, parsed, logger);
    const ids = entries.map(([id]) => id);
    await redis
      .multi()
      .xack(keys.audit(), GROUP, ...ids)
      .xdel(keys.audit(), ...ids)
      .exec();
  }
}

/** Deletes a part of the old rows; those that another writer is deleting are skipped. Returns whether that was the last part. */
async function deleteOlderThan(database: Database, limit: Date): Promise<boolean> {
  let isDone = true;
  for (const table of [pammAnswers, pammSubmissions]) {
    const part = sql`SELECT ctid FROM ${table} WHERE ${table.receivedAt} < ${limit.toISOString()}
                     LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED`;
    const { rowCount } = await database.execute(sql`DELETE FROM ${table} WHERE ctid = ANY(ARRAY(${part}))`);
    if (rowCount === DELETED_AT_ONCE) isDone = false;
  }
  return isDone;
}
