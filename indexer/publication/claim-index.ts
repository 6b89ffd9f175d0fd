import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ConfigError } from '../../config/config-error.ts';
import { openDatabase } from '../../db/connection.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { FIRST_SCHEMA, wasReplaced } from './index-schemas.ts';
import { clearStaleMarks, isComplete } from './ponder-tables.ts';
import { SchemaHold } from './schema-lock.ts';

/** A process that was killed lets go of its schema at once, one that stops in order within a few seconds. */
const SCHEMA_WAIT_MS = 30_000;
const DATABASE_WAIT_MS = 10_000;
const RETRY_MS = 500;

/** An index that this process alone may write. */
export interface ClaimedIndex {
  readonly schema: string;
  readonly database: pg.Pool;
  readonly hold: SchemaHold;
}

/**
 * Chooses the schema to write and takes the right to. A database that is being started, or is busy for a short time, is
 * waited for.
 *
 * @param pinned the operator's choice; null goes on with the schema that serves, or begins the first one
 * @throws ConfigError when the choice was replaced by another index; SchemaTakenError; an error of Postgres
 */
export async function claimIndex(
  url: string,
  pinned: string | null,
  { build, logger }: { readonly build: boolean; readonly logger: Logger },
): Promise<ClaimedIndex> {
  const database = openDatabase(url, logger, 1).$client;
  const deadline = Date.now() + DATABASE_WAIT_MS;
  for (;;) {
    try {
      const served = await servedSchema(database);
      const schema = pinned ?? served ?? FIRST_SCHEMA;
      if (!build) await refuseReplaced(database, schema, served);
      return { schema, database, hold: await takeHold(database, url, schema) };
    } catch (error) {
      if (!isDatabaseUnreachable(error) || Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** An index that served before must not come back by a restart with a setting that was forgotten. */
async function refuseReplaced(database: pg.Pool, schema: string, served: string | null): Promise<void> {
  if (served === null || served === schema) return;
  if (!(await wasReplaced(database, schema)) && !(await isComplete(database, schema))) return;
  throw new ConfigError(
    `DATABASE_SCHEMA: "${schema}" was replaced by "${served}", from which readers are served: unset it; ` +
      `"npm run backfill -- --schema ${schema}" would turn back`,
  );
}

async function takeHold(database: pg.Pool, url: string, schema: string): Promise<SchemaHold> {
  const hold = new SchemaHold(url, schema);
  await hold.acquire(SCHEMA_WAIT_MS);
  try {
    await clearStaleMarks(database, schema);
    return hold;
  } catch (error) {
    await hold.release();
    throw error;
  }
}
