import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Queryable } from './transaction.ts';

/**
 * Loads a statement from an SQL file next to the calling module. Returns a function that runs it with the values of
 * `$1`, `$2`, …, and resolves to its rows. Names that differ by run are written as in psql: `:"schema".swap`.
 *
 * @param file such as `./select-days.sql`
 * @param base `import.meta.url` of the caller
 * @param name each connection plans a named statement once
 */
export function loadStatement<Row extends pg.QueryResultRow = never>(file: string, base: string, name?: string) {
  const source = readFileSync(new URL(file, base), 'utf8');
  return async (database: Queryable, values: readonly unknown[], names: Names = {}): Promise<Row[]> => {
    const text = source.replaceAll(IDENTIFIER, (_, key: string) => pg.escapeIdentifier(String(names[key])));
    return (await database.query<Row>({ text, values: [...values], ...(name !== undefined && { name }) })).rows;
  };
}

/** Schemas or columns, by what the file calls them. */
type Names = Readonly<Record<string, string | null>>;

const IDENTIFIER = /:"(\w+)"/g;
