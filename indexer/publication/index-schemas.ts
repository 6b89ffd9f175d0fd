import type { Queryable } from '../../db/transaction.ts';
import { servedSchema } from './live-views.ts';
import { writtenSchemas } from './schema-lock.ts';

/** Name of the first index of a database. */
export const FIRST_SCHEMA = 'onchain_1';

/** An index: a schema with the indexer's tables. */
export type IndexSchema = {
  readonly name: string;
  /** Readers see it. */
  readonly served: boolean;
  /** It has caught up with the chains since it was last started. */
  readonly complete: boolean;
  /** An indexer runs on it. */
  readonly written: boolean;
  readonly bytes: number;
};

/** Every index of the database, in the order of their names, numbers by value. */
export async function listIndexSchemas(database: Queryable): Promise<IndexSchema[]> {
  const { rows } = await database.query<{ name: string; bytes: string }>(`
    SELECT n.nspname AS name, coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes
    FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
    WHERE EXISTS (SELECT FROM pg_class m WHERE m.relnamespace = n.oid AND m.relname = '_ponder_meta' AND m.relkind = 'r')
    GROUP BY n.nspname`);
  const names = rows.map(({ name }) => name);
  const [served, written] = [await servedSchema(database), await writtenSchemas(database, names)];
  const schemas: IndexSchema[] = [];
  for (const { name, bytes } of rows) {
    const complete = await isComplete(database, name);
    schemas.push({ name, served: name === served, complete, written: written.has(name), bytes: Number(bytes) });
  }
  return schemas.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** Whether an index has caught up with the chains since it was last started; false when there is none of that name. */
export async function isComplete(database: Queryable, schema: string): Promise<boolean> {
  if (!(await hasIndex(database, schema))) return false;
  const { rows } = await database.query<{ ready: boolean }>(
    `SELECT value ->> 'is_ready' = '1' AS ready FROM "${schema}"._ponder_meta WHERE key = 'app'`,
  );
  return rows[0]?.ready === true;
}

/**
 * Takes back what a killed process has left: that it writes the schema, for which Ponder would wait up to 25 seconds, and
 * that the index is complete, which holds again when it has caught up. For the holder of the schema's lock alone.
 */
export async function clearStaleMarks(database: Queryable, schema: string): Promise<void> {
  if (!(await hasIndex(database, schema))) return;
  await database.query(
    `UPDATE "${schema}"._ponder_meta SET value = value || '{"is_locked": 0, "is_ready": 0}' WHERE key = 'app'`,
  );
}

/** Whether a backfill has turned readers from this index to another one. */
export async function wasReplaced(database: Queryable, schema: string): Promise<boolean> {
  const { rows: tables } = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('operator.backfill') IS NOT NULL AS exists`,
  );
  if (!tables[0]?.exists) return false;
  const { rows } = await database.query('SELECT FROM operator.backfill WHERE replaced = $1', [schema]);
  return rows.length > 0;
}

/** Last indexed block of each chain, by chain id; empty while the index has not begun. */
export async function indexedBlocks(database: Queryable, schema: string): Promise<Map<number, number>> {
  if (!(await hasIndex(database, schema))) return new Map();
  // The digits of a checkpoint: timestamp (10), chain (16), block (16) and the place in the block.
  const { rows } = await database.query<{ chain_id: string; block: string }>(
    `SELECT chain_id, substr(latest_checkpoint, 27, 16)::int8 AS block FROM "${schema}"._ponder_checkpoint`,
  );
  return new Map(rows.map(({ chain_id, block }) => [Number(chain_id), Number(block)]));
}

async function hasIndex(database: Queryable, schema: string): Promise<boolean> {
  const { rows } = await database.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    `"${schema}"._ponder_checkpoint`,
  ]);
  return rows[0]?.exists === true;
}

/** Name for the index after `served`: `onchain_7` is followed by `onchain_8`, or a higher number when that is taken. */
export function nextSchemaName(served: string | null, taken: readonly string[]): string {
  if (served === null && taken.length === 0) return FIRST_SCHEMA;
  const stem = (served ?? FIRST_SCHEMA).replace(/_\d+$/, '');
  const numbers = taken
    .filter((name) => name.startsWith(`${stem}_`))
    .map((name) => Number(name.slice(stem.length + 1)));
  return `${stem}_${Math.max(1, ...numbers.filter(Number.isSafeInteger)) + 1}`;
}
