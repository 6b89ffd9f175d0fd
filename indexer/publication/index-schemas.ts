import { eq } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { backfills } from '../../db/schema/operator.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { tableName } from '../../db/sql-names.ts';
import type { Queryable } from '../../db/transaction.ts';
import { isComplete, META_TABLE } from './ponder-tables.ts';
import { writtenSchemas } from './schema-lock.ts';

/** Name of the first index of a database. */
export const FIRST_SCHEMA = 'onchain_1';

/** An index: a schema with the indexer's tables. */
export type IndexSchema = {
  readonly name: string;
  /** Whether readers see it. */
  readonly served: boolean;
  /** Whether it has caught up with the chains since its indexer was last started. */
  readonly complete: boolean;
  /** Whether an indexer writes it now. */
  readonly written: boolean;
  readonly bytes: number;
};

/** Every index of the database, sorted by name, with numbers in names sorted by value. */
export async function listIndexSchemas(database: Queryable): Promise<IndexSchema[]> {
  const { rows } = await database.query<{ name: string; bytes: string }>(`
    SELECT n.nspname AS name, coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes
    FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
    WHERE EXISTS (SELECT FROM pg_class m WHERE m.relnamespace = n.oid AND m.relname = '${META_TABLE}' AND m.relkind = 'r')
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

/** Whether a backfill has switched readers from this index to another one. */
export async function wasReplaced(database: Queryable, schema: string): Promise<boolean> {
  const { rows: tables } = await database.query('SELECT WHERE to_regclass($1) IS NOT NULL', [tableName(backfills)]);
  return tables.length > 0 && (await queriesOn(database).$count(backfills, eq(backfills.replaced, schema))) > 0;
}

/** Name for the index after `served`: after `onchain_7` comes `onchain_8`, or a higher number when that is taken. */
export function nextSchemaName(served: string | null, taken: readonly string[]): string {
  if (served === null && taken.length === 0) return FIRST_SCHEMA;
  const stem = (served ?? FIRST_SCHEMA).replace(/_\d+$/, '');
  const numbers = taken
    .filter((name) => name.startsWith(`${stem}_`))
    .map((name) => Number(name.slice(stem.length + 1)));
  return `${stem}_${Math.max(1, ...numbers.filter(Number.isSafeInteger)) + 1}`;
}
