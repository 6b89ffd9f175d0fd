import { hostname } from 'node:os';
import { lt } from 'drizzle-orm';
import type { Redis } from 'ioredis';
import type { Database } from '../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../db/schema/pamm-audit.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { RedisKeys } from '../queue/redis-keys.ts';
import type { AuditEntry } from './audit-log.ts';

const GROUP = 'writers';
const BATCH = 500;
const BLOCK_MS = 1_000;
const RETRY_MS = 1_000;
/** Entries that another writer took and did not finish for this long are taken over. */
const ABANDONED_MS = 15_000;
const RETENTION_EVERY_MS = 3_600_000;
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
    // Without Redis the read under way would wait for it to come back.
    if (this.#deps.redis.status !== 'ready') this.#deps.redis.disconnect();
    await this.#running;
    this.#deps.redis.disconnect();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#createGroup();
        while (!this.#stopping) await this.#step();
      } catch (error) {
        if (this.#stopping) return;
        this.#deps.logger.warn({ err: error }, 'audit entries wait');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #step(): Promise<void> {
    const now = Date.now();
    if (now - this.#claimedAt >= ABANDONED_MS) {
      await this.#write(await this.#claimAbandoned());
      this.#claimedAt = now;
    }
    await this.#write(await this.#read());
    if (now - this.#retainedAt >= RETENTION_EVERY_MS) {
      await deleteOlderThan(this.#deps.database, new Date(now - this.#deps.retentionDays * DAY_MS));
      this.#retainedAt = now;
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
    const { database, redis, keys } = this.#deps;
    await writeEntries(
      database,
      entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as AuditEntry),
    );
    const ids = entries.map(([id]) => id);
    await redis
      .multi()
      .xack(keys.audit(), GROUP, ...ids)
      .xdel(keys.audit(), ...ids)
      .exec();
  }
}

/** Writes entries; those already written are left as they are. */
async function writeEntries(database: Database, entries: readonly AuditEntry[]): Promise<void> {
  const submissions = entries.filter((entry) => entry.kind === 'submission').map(toSubmissionRow);
  const answers = entries.filter((entry) => entry.kind === 'answer').map(toAnswerRow);
  if (submissions.length > 0) await database.insert(pammSubmissions).values(submissions).onConflictDoNothing();
  if (answers.length > 0) await database.insert(pammAnswers).values(answers).onConflictDoNothing();
}

function toSubmissionRow(entry: Extract<AuditEntry, { kind: 'submission' }>): typeof pammSubmissions.$inferInsert {
  const { kind: _, receivedAtMs, ...columns } = entry;
  return { ...columns, receivedAt: new Date(receivedAtMs), isCancel: entry.txHash === null };
}

function toAnswerRow(entry: Extract<AuditEntry, { kind: 'answer' }>): typeof pammAnswers.$inferInsert {
  const { kind: _, receivedAtMs, answeredAtMs, ...columns } = entry;
  const times = { receivedAt: new Date(receivedAtMs), answeredAt: new Date(answeredAtMs) };
  return { ...columns, ...times, latencyMs: Math.max(0, answeredAtMs - receivedAtMs) };
}

async function deleteOlderThan(database: Database, limit: Date): Promise<void> {
  await database.delete(pammAnswers).where(lt(pammAnswers.receivedAt, limit));
  await database.delete(pammSubmissions).where(lt(pammSubmissions.receivedAt, limit));
}
