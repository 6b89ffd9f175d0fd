import type pg from 'pg';
import { ConfigError } from '../../config/config-error.ts';
import { openDatabase } from '../../db/connection.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { retryFor } from '../../runtime/retry-for.ts';
import { FIRST_SCHEMA, wasReplaced } from './index-schemas.ts';
import { clearStaleMarks, isComplete } from './ponder-tables.ts';
import { SchemaLock, SchemaTakenError } from './schema-lock.ts';

/** How long to wait for another process: a killed one releases its schema at once, one that stops within seconds. */
const CLAIM_WAIT_MS = 10_000;
const RETRY_MS = 500;

/** An index that only this process may write. */
export interface ClaimedIndex {
  readonly schema: string;
  readonly database: pg.Pool;
  readonly lock: SchemaLock;
}

/**
 * Chooses the schema to write and locks it for this process. Waits up to {@link CLAIM_WAIT_MS} while another process
 * writes it, or while the database is starting or busy. Then it fails, and the supervisor restarts this process.
 *
 * @param pinned the operator's choice; null continues the schema that serves, or begins the first one
 * @param isBackfill whether a backfill runs this indexer: only the backfill may then switch readers to the index
 * @throws ConfigError when another index replaced the chosen one; SchemaTakenError; an error of Postgres
 */
export async function claimIndex(
  url: string,
  pinned: string | null,
  isBackfill: boolean,
  logger: Logger,
): Promise<ClaimedIndex> {
  const database = openDatabase(url, 'ptd_indexer', logger, { max: 1 }).$client;
  let isReported = false;
  const claim = async (): Promise<ClaimedIndex> => {
    const served = await servedSchema(database);
    const schema = pinned ?? served ?? FIRST_SCHEMA;
    if (!isBackfill) await assertNotReplaced(database, schema, served);
    const lock = new SchemaLock(url, schema, () =>
      logger.warn({ schema }, 'waiting until a backfill has removed cached logs, which may take hours'),
    );
    try {
      await lock.keep();
      await clearStaleMarks(database, schema);
    } catch (error) {
      if (error instanceof SchemaTakenError && !isReported) {
        isReported = true;
        logger.warn({ schema, limitMs: CLAIM_WAIT_MS }, 'waiting until another indexer ends, which writes the schema');
      }
      await lock.release();
      throw error;
    }
    return { schema, database, lock };
  };
  const isPassing = (error: unknown) => error instanceof SchemaTakenError || isDatabaseUnreachable(error);
  return retryFor(claim, { limitMs: CLAIM_WAIT_MS, pauseMs: () => RETRY_MS, isPassing });
}

/** Rejects an index that served before: a restart with a forgotten setting must not switch readers back to it. */
async function assertNotReplaced(database: pg.Pool, schema: string, served: string | null): Promise<void> {
  if (served === null || served === schema) return;
  if (!(await wasReplaced(database, schema)) && !(await isComplete(database, schema))) return;
  throw new ConfigError(
    `DATABASE_SCHEMA: "${schema}" was replaced by "${served}", from which readers are served: unset it; ` +
      `"npm run backfill -- --schema ${schema}" would turn back`,
  );
}
