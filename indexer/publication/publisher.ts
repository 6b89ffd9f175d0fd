import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { writeFirstSyncs } from '../../db/first-sync.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ClaimedIndex } from './claim-index.ts';
import { serveSchema } from './live-views.ts';
import { indexedBlocks, isComplete } from './ponder-tables.ts';
import { SchemaTakenError } from './schema-lock.ts';

const POLL_MS = 500;

/** Logs that the nodes of each chain have given, by chain id. */
export type LogCounts = ReadonlyMap<number, number>;

/**
 * Keeps the lock of an index while it is written, and switches the readers' views to the index when it is complete.
 *
 * @param logsOf logs that each chain's nodes have given
 * @param onBuilt set by a backfill: called when the index is complete, instead of a switch of the views
 * @returns why the process must end: another index serves now, or another process writes this index
 */
export async function publish(
  index: ClaimedIndex,
  logsOf: LogCounts,
  onBuilt: (() => void) | undefined,
  logger: Logger,
): Promise<string> {
  const { schema, database, lock } = index;
  let hasCaughtUp = false;
  let isServed = false;
  for (;;) {
    await sleep(POLL_MS, undefined, { ref: false });
    try {
      await lock.keep();
      if (!hasCaughtUp) {
        if (!(await isComplete(database, schema))) {
          await reportFirstSync(index, logsOf);
          continue;
        }
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

/** Writes how far the index has come with each chain of which readers have none. */
async function reportFirstSync({ schema, database }: ClaimedIndex, logsOf: LogCounts): Promise<void> {
  const served = await servedSchema(database);
  const readable = served === null ? null : await indexedBlocks(database, served);
  const blocks = await indexedBlocks(database, schema);
  const rows = [...logsOf]
    .filter(([chainId]) => !readable?.has(chainId))
    .map(([chainId, logs]) => ({ chainId, blockNumber: blocks.get(chainId) ?? null, logs }));
  await writeFirstSyncs(database, rows);
}
