import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';

/** Name of a table with its schema, for statements written as text. */
export function tableName(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}

/** Names of a table's columns by field, for statements written as text. A wrong field does not compile. */
export function columnNames<T extends PgTable>(table: T): Readonly<Record<keyof T['_']['columns'], string>> {
  const entries = Object.entries(getTableColumns(table)).map(([field, { name }]) => [field, name]);
  return Object.fromEntries(entries) as Record<keyof T['_']['columns'], string>;
}
