import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ClaimedIndex } from './claim-index.ts';
import { serveSchema } from './live-views.ts';
import { isComplete } from './ponder-tables.ts';
import { SchemaTakenError } from './schema-lock.ts';

const POLL_MS = 500;

/**
 * Keeps the lock of an index while it is written, and switches the readers' views to the index when it is complete.
 *
 * @param onBuilt set by a backfill: called when the index is complete, instead of a switch of the views
 * @returns why the process must end: another index serves now, or another process writes this index
 */
export async function publish(
  { schema, database, lock }: ClaimedIndex,
  onBuilt: (() => void) | undefined,
  logger: Logger,
): Promise<string> {
  let hasCaughtUp = false;
  let isServed = false;
  for (;;) {
    await sleep(POLL_MS, undefined, { ref: false });
    try {
      await lock.keep();
      if (!hasCaughtUp) {
        if (!(await isComplete(database, schema))) continue;
        await lock.leaveCache();
        hasCaughtUp = true;
        onBuilt?.();
      }
      if (onBuilt) continue;
      const served = await servedSchema(database);
      if (isServed && served !== schema) return `readers are served from schema "${served}" now`;
      if (isServed) continue;
      if (served !== schema) await serveSchema(database, schema);
      isServed = true;
      logger.info({ schema, replaced: served }, 'readers are served from this index');
    } catch (error) {
      if (error instanceof SchemaTakenError) return error.message;
      logger[isDatabaseUnreachable(error) ? 'warn' : 'error']({ err: error, schema }, 'could not look after the index');
    }
  }
}
