import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import type { Queryable } from '../../db/transaction.ts';

/** First halves of the keys of Postgres's advisory locks; the second half tells schemas apart. */
const SCHEMA_LOCK = 7_203_145;
const CACHE_LOCK = 7_203_146;

const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_MS = 200;

/** Another process writes the schema. */
export class SchemaTakenError extends AppError {
  readonly code = 'SCHEMA_TAKEN';
  readonly retryable = true;

  constructor(schema: string) {
    super(`another indexer writes schema "${schema}"`);
  }
}

/** Takes the right to write a schema for the rest of the session, unless another session has it. */
export async function tryLockSchema(session: Queryable, schema: string): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken', [
    SCHEMA_LOCK,
    schema,
  ]);
  return rows[0]?.taken === true;
}

/** Keeps indexers from reading the cached logs until the transaction ends, unless one is reading them now. */
export async function tryLockCache(transaction: Queryable): Promise<boolean> {
  const { rows } = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, 0) AS taken', [
    CACHE_LOCK,
  ]);
  return rows[0]?.taken === true;
}

/** Which of the schemas are being written, each with the process of Postgres that does it for the writer. */
export async function schemaWriters(database: Queryable, schemas: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await database.query<{ schema: string; pid: number }>(
    `SELECT schema, pid FROM unnest($2::text[]) AS schema
     JOIN pg_locks ON locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND objid::int8 = hashtext(schema)::int8 & 4294967295`,
    [SCHEMA_LOCK, schemas],
  );
  return new Map(rows.map(({ schema, pid }) => [schema, pid]));
}

/**
 * The right to write a schema, for as long as this process lives: it belongs to a connection of its own, which Postgres
 * sees end with the process. Needs a direct connection, not one through a transaction pool.
 */
export class SchemaHold {
  readonly #url: string;
  readonly #schema: string;
  #session: pg.Client | null = null;
  #readsCache = true;

  constructor(url: string, schema: string) {
    this.#url = url;
    this.#schema = schema;
  }

  /**
   * Waits until no other process writes the schema or removes cached logs.
   *
   * @throws SchemaTakenError after `limitMs`; an error of Postgres
   */
  async acquire(limitMs: number): Promise<void> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      try {
        return await this.keep();
      } catch (error) {
        if (!(error instanceof SchemaTakenError) || Date.now() > deadline) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Takes the right again when its connection was lost meanwhile.
   *
   * @throws SchemaTakenError when another process was faster; an error of Postgres
   */
  async keep(): Promise<void> {
    if (this.#session !== null) return;
    const session = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: `${this.#schema}_lock`,
    });
    session.on('error', () => this.#forget(session));
    session.on('end', () => this.#forget(session));
    await session.connect();
    try {
      if (!(await tryLockSchema(session, this.#schema))) throw new SchemaTakenError(this.#schema);
      if (this.#readsCache) await session.query('SELECT pg_advisory_lock_shared($1, 0)', [CACHE_LOCK]);
    } catch (error) {
      await session.end();
      throw error;
    }
    this.#session = session;
  }

  /** Says that the cached logs are read no more: they may be removed from now on. */
  async leaveCache(): Promise<void> {
    if (!this.#readsCache) return;
    this.#readsCache = false;
    await this.#session?.query('SELECT pg_advisory_unlock_shared($1, 0)', [CACHE_LOCK]);
  }

  async release(): Promise<void> {
    await this.#session?.end();
  }

  #forget(session: pg.Client): void {
    if (this.#session === session) this.#session = null;
  }
}
