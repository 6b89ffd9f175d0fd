import type { Queryable } from '../../db/transaction.ts';
import { tryLockCache } from '../../indexer/publication/schema-lock.ts';

/** Tables of Ponder's cache, by chain; `intervals` says which blocks of them are there. */
const CACHE_TABLES = [
  'intervals',
  'logs',
  'blocks',
  'transactions',
  'transaction_receipts',
  'traces',
  'factory_addresses',
  'rpc_request_results',
];

/** An indexer that has not caught up yet reads the cached logs. */
export class ReadersOfCacheError extends Error {
  readonly code = 'CACHE_IN_USE';
  override readonly name = 'ReadersOfCacheError';

  constructor() {
    super('an indexer that has not caught up yet reads the cached logs: try again when its /ready answers 200');
  }
}

/**
 * Removes what is cached of these chains, so that whoever indexes them next fetches it from their nodes. An indexer that
 * follows the chains' heads is not disturbed: it reads the cache only when it starts.
 *
 * @throws ReadersOfCacheError when an indexer is reading it
 */
export async function forgetCachedLogs(transaction: Queryable, chainIds: readonly number[]): Promise<void> {
  if (chainIds.length === 0) return;
  if (!(await tryLockCache(transaction))) throw new ReadersOfCacheError();
  // A cache may hold hundreds of millions of rows.
  await transaction.query('SET LOCAL statement_timeout = 0');
  for (const table of CACHE_TABLES) {
    const { rows } = await transaction.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
      `ponder_sync.${table}`,
    ]);
    if (!rows[0]?.exists) continue;
    await transaction.query(`DELETE FROM ponder_sync.${table} WHERE chain_id = ANY($1::int8[])`, [chainIds]);
  }
}
