import { allowLongStatements } from '../../db/long-statements.ts';
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

/** A cache may hold hundreds of millions of rows. */
const DELETE_LIMIT_MS = 86_400_000;

/** Removes the cached logs of these chains, of each from a block on. */
export async function deleteCachedLogs(client: Queryable, chains: ReadonlyMap<number, number>): Promise<void> {
  const transaction = await allowLongStatements(client, DELETE_LIMIT_MS);
  const { rows } = await transaction.query<{ name: string; block: string | null }>(
    `SELECT c.table_name AS name, min(b.column_name) AS block
     FROM information_schema.columns c
     LEFT JOIN information_schema.columns b ON (b.table_schema, b.table_name) = (c.table_schema, c.table_name)
       AND (b.column_name = 'block_number' OR b.table_name = 'blocks' AND b.column_name = 'number')
     WHERE c.table_schema = 'ponder_sync' AND c.column_name = 'chain_id'
     GROUP BY c.table_name
     -- Last: the indexer that serves changes these few rows at each final block, and would wait until all is removed.
     ORDER BY c.table_name = 'intervals', c.table_name`,
  );
  for (const [chainId, fromBlock] of chains) {
    for (const { name, block } of rows) {
      if (fromBlock === 0) await transaction.query(`DELETE FROM ponder_sync."${name}" WHERE chain_id = $1`, [chainId]);
      else if (name === 'intervals') await transaction.query(SHORTEN_INTERVALS, [chainId, fromBlock]);
      else if (block !== null)
        await transaction.query(`DELETE FROM ponder_sync."${name}" WHERE chain_id = $1 AND "${block}" >= $2`, [
          chainId,
          fromBlock,
        ]);
    }
  }
}

/** Ponder notes blocks 5 to 7 as read by `[5,8]`: ends are included, and the last one is a block too high. */
const SHORTEN_INTERVALS = `
  UPDATE ponder_sync.intervals i SET blocks = coalesce((
    SELECT range_agg(r) FROM unnest(i.blocks * nummultirange(numrange(0, $2::numeric, '[]'))) r WHERE lower(r) < upper(r)
  ), '{}') WHERE chain_id = $1`;
