import { servedSchema } from '../db/served-schema.ts';
import type { Queryable } from '../db/transaction.ts';
import type { Logger } from '../runtime/logger.ts';
import { pause } from '../runtime/pause.ts';
import { loggableError } from './loggable-error.ts';

const POLL_MS = 1_000;

/**
 * Waits until the database has an index: before that, no job has anything to read.
 *
 * @param signal ends the wait. Never rejects: a database that does not respond is queried again.
 */
export async function firstIndex(database: Queryable, logger: Logger, signal: AbortSignal): Promise<void> {
  let lastMessage: string | null = null;
  while (!signal.aborted) {
    const failure = await servedSchema(database).then(
      (schema) => (schema === null ? new Error('no index is published yet') : null),
      (error: unknown) => error as Error,
    );
    if (failure === null) return;
    if (failure.message !== lastMessage) logger.info({ err: loggableError(failure) }, 'jobs wait for the first index');
    lastMessage = failure.message;
    await pause(POLL_MS, signal);
  }
}
