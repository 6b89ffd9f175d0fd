import pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { isLockBusy } from '../../db/failure.ts';
import { actAs } from '../../db/process-roles.ts';
import type { Queryable } from '../../db/transaction.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Ten seconds after this long without an answer it counts as lost: Postgres has ended the session by then. */
const KEEP_ALIVE_MS = 20_000;
/** After this long without the lock on cached logs, the wait is reported. */
const CACHE_REPORT_MS = 200;

/** Another process writes the schema. */
export class SchemaTakenError extends AppError {
  readonly code = 'SCHEMA_TAKEN';
  readonly retryable = true;

  constructor(schema: string) {
    super(`another indexer writes schema "${schema}"`);
  }
}

/** Locks a schema for writing until the session or transaction ends. False: another session has the lock. */
export async function tryLockSchema(
  client: Queryable,
  schema: string,
  until: 'session' | 'transaction',
): Promise<boolean> {
  const lock = until === 'session' ? 'pg_try_advisory_lock' : 'pg_try_advisory_xact_lock';
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${lock}($1, hashtext($2)) AS taken`, [
    ADVISORY_LOCKS.indexSchema,
    schema,
  ]);
  return rows[0]?.taken === true;
}

/** Keeps indexers from reading the cached logs until the transaction ends. False: an indexer reads them now. */
export async function tryLockCache(transaction: Queryable): Promise<boolean> {
  const { rows } = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, 0) AS taken', [
    ADVISORY_LOCKS.indexCache,
  ]);
  return rows[0]?.taken === true;
}

/** Which of the schemas an indexer writes now. */
export async function writtenSchemas(database: Queryable, schemas: readonly string[]): Promise<Set<string>> {
  const { rows } = await database.query<{ schema: string }>(
    `SELECT schema FROM unnest($2::text[]) AS schema
     JOIN pg_locks ON locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND objid::int8 = hashtext(schema)::int8 & 4294967295`,
    [ADVISORY_LOCKS.indexSchema, schemas],
  );
  return new Set(rows.map(({ schema }) => schema));
}

/**
 * The right to write a schema, for as long as this process lives. A dedicated connection holds it, so that Postgres
 * releases it when the process ends. The connection must be direct, not through a transaction pool.
 */
export class SchemaLock {
  readonly #url: string;
  readonly #schema: string;
  readonly #onCacheWait: () => void;
  #session: pg.Client | null = null;
  #readsCache = true;

  /** @param onCacheWait called once {@link keep} has to wait for a process that removes cached logs */
  constructor(url: string, schema: string, onCacheWait: () => void = () => undefined) {
    this.#url = url;
    this.#schema = schema;
    this.#onCacheWait = onCacheWait;
  }

  /**
   * Takes the lock, or takes it again after its connection was lost. Waits while cached logs are being removed.
   *
   * @throws SchemaTakenError when another process has the lock; an error of Postgres
   */
  async keep(): Promise<void> {
    if (this.#session !== null) return;
    const session = new pg.Client({
      connectionString: actAs(this.#url, 'ptd_indexer'),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: `${this.#schema}_lock`,
    });
    const forget = () => {
      if (this.#session === session) this.#session = null;
    };
    session.on('error', forget);
    session.on('end', forget);
    await session.connect();
    try {
      if (!(await tryLockSchema(session, this.#schema, 'session'))) throw new SchemaTakenError(this.#schema);
      if (this.#readsCache) await this.#lockCache(session);
    } catch (error) {
      await session.end();
      throw error;
    }
    this.#session = session;
  }

  async #lockCache(session: pg.Client): Promise<void> {
    const lock = () => session.query('SELECT pg_advisory_lock_shared($1, 0)', [ADVISORY_LOCKS.indexCache]);
    await session.query(`SET lock_timeout = ${CACHE_REPORT_MS}`);
    try {
      await lock();
    } catch (error) {
      if (!isLockBusy(error)) throw error;
      this.#onCacheWait();
      await session.query('RESET lock_timeout');
      await lock();
    }
  }

  /** Declares that this process no longer reads the cached logs, so that they may be removed. */
  async leaveCache(): Promise<void> {
    if (!this.#readsCache) return;
    this.#readsCache = false;
    await this.#session?.query('SELECT pg_advisory_unlock_shared($1, 0)', [ADVISORY_LOCKS.indexCache]);
  }

  async release(): Promise<void> {
    await this.#session?.end();
  }
}
