import { setInterval as everyInterval } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { serveSchema } from './live-views.ts';
import { isComplete } from './ponder-tables.ts';
import { type SchemaHold, SchemaTakenError } from './schema-lock.ts';

const LOOK_EVERY_MS = 500;

export interface PublisherOptions {
  readonly database: pg.Pool;
  readonly hold: SchemaHold;
  readonly schema: string;
  /** False when another process turns the views of readers to this index, or they stay where they are. */
  readonly serves: boolean;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
}

/**
 * Looks after an index while it is written: keeps its lock and, if it `serves`, turns the readers' views to it when it is
 * complete.
 *
 * @returns why the process must end: another index serves now, or another process writes this one
 */
export async function publish(options: PublisherOptions): Promise<string> {
  const { hold, schema, logger, signal } = options;
  const progress = { complete: false, served: false };
  for await (const _ of everyInterval(LOOK_EVERY_MS, undefined, { ref: false, ...(signal && { signal }) })) {
    try {
      await hold.keep();
      const reason = await look(options, progress);
      if (reason !== null) return reason;
    } catch (error) {
      if (error instanceof SchemaTakenError) return error.message;
      logger[isDatabaseUnreachable(error) ? 'warn' : 'error']({ err: error, schema }, 'could not look after the index');
    }
  }
  return 'stopped';
}

async function look(
  { database, hold, schema, serves, logger }: PublisherOptions,
  progress: { complete: boolean; served: boolean },
): Promise<string | null> {
  if (!progress.complete) {
    progress.complete = await isComplete(database, schema);
    if (!progress.complete) return null;
    await hold.leaveCache();
  }
  if (!serves) return null;
  const served = await servedSchema(database);
  if (progress.served) return served === schema ? null : `readers are served from schema "${served}" now`;
  if (served !== schema) await serveSchema(database, schema);
  progress.served = true;
  logger.info({ schema, replaced: served }, 'readers are served from this index');
  return null;
}
