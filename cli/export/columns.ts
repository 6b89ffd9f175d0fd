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
const [NUMERIC, NUMERIC_ARRAY] = [1700, 1231];
/** Column suffixes of whole numbers (docs/use/sql.md). */
const AMOUNT = /_(raw|scaled|x64)$/;
/** Digits after the point of amounts that are not whole. `mid_x64` is half of a sum of two. */
const SCALES: Readonly<Record<string, number>> = { mid_x64: 1 };

/**
 * Reads the columns of a view of the read model, in their order. A price is a pair of raw amounts and becomes two
 * columns. Types depend only on the view, so all files of a view agree.
 */
export async function readColumns(database: Queryable, view: string): Promise<Column[]> {
  const { rows } = await database.query<{ name: string; type: number }>(
    `SELECT attname AS name, atttypid::int4 AS type FROM pg_attribute
     WHERE attrelid = to_regclass('read_model.' || $1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [view],
  );
  return rows.flatMap(({ name, type }): Column[] => {
    const [, priceOf] = (type === NUMERIC_ARRAY && /^(.+)_price$/.exec(name)) || [];
    if (priceOf !== undefined) {
      return [0, 1].map((token) => ({
        name: `${priceOf}_amount${token}_raw`,
        sql: `${name}[${token + 1}]`,
        type: { kind: 'amount', scale: 0 },
      }));
    }
    if (type === NUMERIC && AMOUNT.test(name)) {
      return [{ name, sql: name, type: { kind: 'amount', scale: SCALES[name] ?? 0 } }];
    }
    const kind = KINDS[type];
    if (kind !== undefined) return [{ name, sql: name, type: { kind } }];
    return [{ name, sql: type === NUMERIC_ARRAY ? `to_json(${name})::text` : `${name}::text`, type: { kind: 'text' } }];
  });
}
