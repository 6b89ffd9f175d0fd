import { AppError } from '../../config/app-error.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deleteCachedLogs } from '../publication/ponder-tables.ts';
import { tryLockCache } from '../publication/schema-lock.ts';

/** An indexer that has not caught up yet reads the cached logs. */
export class ReadersOfCacheError extends AppError {
  readonly code = 'CACHE_IN_USE';
  readonly retryable = true;

  constructor() {
    super('an indexer that has not caught up yet reads the cached logs: try again when its /ready answers 200');
  }
}

/**
 * Removes what is cached of these chains, so that the next index fetches it from their nodes. An indexer that
 * follows the chains' heads is not disturbed: it reads the cache only when it starts.
 *
 * @throws ReadersOfCacheError when an indexer is reading it
 */
export async function forgetCachedLogs(transaction: Queryable, chainIds: readonly number[]): Promise<void> {
  if (chainIds.length === 0) return;
  if (!(await tryLockCache(transaction))) throw new ReadersOfCacheError();
  await deleteCachedLogs(transaction, chainIds);
}
