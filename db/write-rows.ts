import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { type PoolId, poolRows } from './pool-id.ts';
import { queriesOn } from './query-builder.ts';
import type { Queryable } from './transaction.ts';

type Field<T extends PgTable> = keyof T['$inferInsert'] & string;

/** Inserts rows in one statement. Rows whose key exists are left out. All rows have the same fields. */
export async function insertRows<T extends PgTable>(
  database: Queryable,
  table: T,
  rows: readonly T['$inferInsert'][],
): Promise<void> {
  if (rows.length === 0) return;
  await queriesOn(database).execute(sql`${insertion(table, rows, {})} ON CONFLICT DO NOTHING`);
}

/** Options of an upsert. `C` are the fields that Postgres computes in each row that it writes. */
export interface UpsertOptions<T extends PgTable, C extends Field<T>> {
  readonly key: readonly Field<T>[];
  readonly computed?: Readonly<Record<C, SQL>>;
  /** Also writes rows that exist with the same values, so that their computed fields change. */
  readonly evenIfSame?: boolean;
  /** A condition on which an existing row stays; `excluded` is the new row. */
  readonly keepIf?: SQL;
}

/** Inserts rows, and updates existing rows whose values differ, in one statement. All rows have the same fields. */
export async function upsertRows<T extends PgTable, C extends Field<T> = never>(
  database: Queryable,
  table: T,
  rows: readonly Omit<T['$inferInsert'], C>[],
  { key, computed, evenIfSame = false, keepIf = sql`false` }: UpsertOptions<T, C>,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const isKey = ([field]: readonly [string, PgColumn]) => (key as readonly string[]).includes(field);
  const written = fieldsOf(table, { ...first, ...computed });
  const compared = fieldsOf(table, first).filter((field) => !isKey(field));
  const updates = written
    .filter((field) => !isKey(field))
    .map(([, column]) => sql`${nameOf(column)} = ${newOf(column)}`);
  const differs = sql`(${list(compared.map(([, column]) => sql`${column}`))})
    IS DISTINCT FROM (${list(compared.map(([, column]) => newOf(column)))})`;
  await queriesOn(database).execute(sql`${insertion(table, rows, computed ?? {})}
    ON CONFLICT (${list(written.filter(isKey).map(([, column]) => nameOf(column)))}) DO UPDATE SET ${list(updates)}
    WHERE ${evenIfSame ? sql`true` : differs} AND NOT (${keepIf})`);
}

type TableOfPools = PgTable & { readonly chainId: PgColumn; readonly pool: PgColumn };

/** Deletes the rows of these pools. */
export async function deletePools(database: Queryable, table: TableOfPools, pools: readonly PoolId[]): Promise<void> {
  if (pools.length === 0) return;
  await queriesOn(database).execute(sql`DELETE FROM ${table} USING ${poolRows(pools)}
    WHERE k.chain_id = ${table.chainId} AND k.address = ${table.pool}`);
}

/** Deletes the rows of all pools of a chain except these. */
export async function deleteOtherPoolsOf(
  database: Queryable,
  table: TableOfPools,
  chainId: number,
  kept: readonly { readonly address: string }[],
): Promise<void> {
  const addresses = sql.param(kept.map(({ address }) => address));
  const isOther = sql`${table.chainId} = ${chainId} AND ${table.pool} <> ALL (${addresses})`;
  await queriesOn(database).delete(table).where(isOther);
}

/** Builds the INSERT. One JSON parameter holds all rows: thousands of parameters would block the event loop. */
function insertion(table: PgTable, rows: readonly object[], computed: Readonly<Record<string, SQL>>): SQL {
  const given = fieldsOf(table, rows[0] ?? {});
  const records = rows.map((row) =>
    Object.fromEntries(
      given.map(([field, column]) => [column.name, driverValue(column, row[field as keyof typeof row])]),
    ),
  );
  const others = fieldsOf(table, computed);
  const names = [...given, ...others].map(([, column]) => nameOf(column));
  const values = [...given.map(([, column]) => nameOf(column)), ...others.map(([field]) => computed[field])];
  return sql`INSERT INTO ${table} (${list(names)})
    SELECT ${list(values)} FROM json_populate_recordset(NULL::${table}, ${JSON.stringify(records)}::json)`;
}

/** The columns of a table for which an object has a value, by field. */
function fieldsOf(table: PgTable, values: object): [string, PgColumn][] {
  return Object.entries(getTableColumns(table)).filter(([field]) => field in values);
}

function driverValue(column: PgColumn, value: unknown): unknown {
  return value === null || value === undefined ? null : column.mapToDriverValue(value);
}

const list = (parts: readonly (SQL | undefined)[]): SQL => sql.join([...parts], sql`, `);
const nameOf = (column: PgColumn): SQL => sql`${sql.identifier(column.name)}`;
const newOf = (column: PgColumn): SQL => sql`excluded.${sql.identifier(column.name)}`;
