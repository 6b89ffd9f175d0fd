import { and, eq, gt, isNull } from 'drizzle-orm';
import type pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import { ConfigError } from '../../config/config-error.ts';
import { isLockBusy } from '../../db/failure.ts';
import { allowLongStatements } from '../../db/long-statements.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { backfills } from '../../db/schema/operator.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { hasIndex } from '../publication/ponder-tables.ts';
import { SchemaTakenError, tryLockSchema } from '../publication/schema-lock.ts';

const DROP_LIMIT_MS = 3_600_000;
/** Longest wait for a table: capture, which reads all indexes, waits behind this. A backup reads for hours. */
const LOCK_TIMEOUT_MS = 2_000;

/** A session reads the index. */
class IndexReadError extends AppError {
  readonly code = 'INDEX_READ';
  readonly retryable = true;
}

/**
 * Removes an index with all its rows. A schema that does not exist is not an error.
 *
 * @throws ConfigError when readers are served from it or it is not an index; SchemaTakenError when an indexer writes
 *   it; IndexReadError
 */
export async function dropSchema(database: pg.Pool, schema: string): Promise<void> {
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    // Until the transaction ends, no process can begin to write the schema or switch readers to it.
    if (!(await tryLockSchema(client, schema, 'transaction'))) throw new SchemaTakenError(schema);
    if ((await servedSchema(client)) === schema) throw new ConfigError(`readers are served from "${schema}"`);
    await assertIndexOrFree(client, schema);
    const long = await allowLongStatements(client, DROP_LIMIT_MS);
    await long.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await long.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`).catch((cause: unknown) => {
      if (!isLockBusy(cause)) throw cause;
      throw new IndexReadError(`a backup or a long query reads "${schema}": try again when it ends`, { cause });
    });
    const isUnfinished = and(eq(backfills.schema, schema), isNull(backfills.servedAt));
    await queriesOn(client).delete(backfills).where(isUnfinished);
  });
}

/** Removes indexes that a repair replaced. @returns their names */
export async function dropRepaired(database: pg.Pool): Promise<string[]> {
  const isRepair = gt(backfills.attempt, 0);
  const rows = await queriesOn(database).select({ name: backfills.replaced }).from(backfills).where(isRepair);
  const unused = (await listIndexSchemas(database)).filter(({ served, written }) => !served && !written);
  const repaired = unused.map(({ name }) => name).filter((name) => rows.some((row) => row.name === name));
  for (const name of repaired) await dropSchema(database, name);
  return repaired;
}

/** @throws ConfigError when a schema of this name exists and is not an index */
export async function assertIndexOrFree(database: Queryable, schema: string): Promise<void> {
  const { rows } = await database.query('SELECT WHERE to_regnamespace($1) IS NOT NULL', [`"${schema}"`]);
  if (rows.length === 0 || (await hasIndex(database, schema))) return;
  throw new ConfigError(`schema "${schema}" is no index: another name is needed`);
}
