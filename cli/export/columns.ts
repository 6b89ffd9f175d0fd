import pg from 'pg';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';

/** How a column is written to a file. An amount has up to 38 digits, `scale` of them after the point. */
export type ColumnType =
  | { readonly kind: 'integer' | 'double' | 'boolean' | 'text' }
  | { readonly kind: 'amount'; readonly scale: number };

export interface Column {
  readonly name: string;
  /** Expression for the value in a query of the view. */
  readonly sql: string;
  readonly type: ColumnType;
}

/** Kinds by the type number (OID) of Postgres. Values of all other types are written as text. */
const KINDS: Readonly<Record<number, 'integer' | 'double' | 'boolean'>> = {
  16: 'boolean',
  20: 'integer',
  23: 'integer',
  701: 'double',
};
const [NUMERIC, NUMERIC_ARRAY, TEXT_ARRAY, TIMESTAMPTZ] = [1700, 1231, 1009, 1184];
/** Times as text, in UTC whatever the session's zone. */
const UTC = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`;
/** Column suffixes of whole numbers (docs/use/sql.md). */
const AMOUNT = /_(raw|scaled|x64)$/;
/** Digits after the point of amounts that are not whole. `mid_x64` is half of a sum of two. */
const SCALES: Readonly<Record<string, number>> = { mid_x64: 1 };

const columnsOfView = loadStatement<{ readonly name: string; readonly type: number }>('./columns.sql', import.meta.url);

/**
 * Reads the columns of a view of the read model, in their order. A price is a pair of raw amounts and becomes two
 * columns. Types depend only on the view, so all files of a view agree.
 */
export async function readColumns(database: Queryable, view: string): Promise<Column[]> {
  const rows = await columnsOfView(database, [view]);
  return rows.flatMap(({ name, type }): Column[] => {
    const sql = pg.escapeIdentifier(name);
    const [, priceOf] = (type === NUMERIC_ARRAY && /^(.+)_price$/.exec(name)) || [];
    if (priceOf !== undefined) {
      return [0, 1].map((token) => ({
        name: `${priceOf}_amount${token}_raw`,
        sql: `${sql}[${token + 1}]`,
        type: { kind: 'amount', scale: 0 },
      }));
    }
    if (type === NUMERIC && AMOUNT.test(name)) {
      return [{ name, sql, type: { kind: 'amount', scale: SCALES[name] ?? 0 } }];
    }
    const kind = KINDS[type];
    if (kind !== undefined) return [{ name, sql, type: { kind } }];
    if (type === TIMESTAMPTZ) {
      return [{ name, sql: `to_char(${sql} AT TIME ZONE 'UTC', ${UTC})`, type: { kind: 'text' } }];
    }
    const isArray = type === NUMERIC_ARRAY || type === TEXT_ARRAY;
    return [{ name, sql: isArray ? `to_json(${sql})::text` : `${sql}::text`, type: { kind: 'text' } }];
  });
}
