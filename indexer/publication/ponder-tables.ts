import type { Queryable } from '../../db/transaction.ts';

/* Everything that we read and change in Ponder's own tables. */

/** Table of each index with the state of the indexer that writes it. */
export const META_TABLE = '_ponder_meta';
/** Table of each index with the checkpoints up to which each chain is indexed. */
const CHECKPOINT_TABLE = '_ponder_checkpoint';

/** Whether an index has caught up with the chains since its indexer last started; false when it does not exist. */
export async function isComplete(database: Queryable, schema: string): Promise<boolean> {
  if (!(await hasIndex(database, schema))) return false;
  const { rows } = await database.query<{ ready: boolean }>(
    `SELECT value ->> 'is_ready' = '1' AS ready FROM "${schema}".${META_TABLE} WHERE key = 'app'`,
  );
  return rows[0]?.ready === true;
}

/**
 * Clears the marks that a killed process has left. Only the holder of the schema's lock may do that.
 * 1. "The schema is being written": Ponder would wait up to 25 seconds for that process.
 * 2. "The index is complete": that is true only after it has caught up again.
 */
export async function clearStaleMarks(database: Queryable, schema: string): Promise<void> {
  if (!(await hasIndex(database, schema))) return;
  await database.query(
    `UPDATE "${schema}".${META_TABLE} SET value = value || '{"is_locked": 0, "is_ready": 0}' WHERE key = 'app'`,
  );
}

/** Last indexed block of each chain, by chain id; empty while the index has not begun. */
export async function indexedBlocks(database: Queryable, schema: string): Promise<Map<number, number>> {
  if (!(await hasIndex(database, schema))) return new Map();
  // A checkpoint has the digits of the timestamp (10), the chain (16), the block (16) and the place in the block.
  const { rows } = await database.query<{ chain_id: string; block: string }>(
    `SELECT chain_id, substr(latest_checkpoint, 27, 16)::int8 AS block FROM "${schema}".${CHECKPOINT_TABLE}`,
  );
  return new Map(rows.map(({ chain_id, block }) => [Number(chain_id), Number(block)]));
}

/** Whether a schema has the tables of an index. */
export async function hasIndex(database: Queryable, schema: string): Promise<boolean> {
  const { rows } = await database.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    `"${schema}".${CHECKPOINT_TABLE}`,
  ]);
  return rows[0]?.exists === true;
}

/** Removes the cached logs of these chains. */
export async function deleteCachedLogs(transaction: Queryable, chainIds: readonly number[]): Promise<void> {
  // A cache may hold hundreds of millions of rows.
  await transaction.query('SET LOCAL statement_timeout = 0');
  const { rows } = await transaction.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'ponder_sync' AND column_name = 'chain_id'`,
  );
  for (const { name } of rows) {
    await transaction.query(`DELETE FROM ponder_sync."${name}" WHERE chain_id = ANY($1::int8[])`, [chainIds]);
  }
}
