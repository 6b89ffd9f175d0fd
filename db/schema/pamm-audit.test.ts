import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { migrate } from '../migrate.ts';
import { pammAnswers, pammSubmissions } from './pamm-audit.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  await migrate(database.url);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

type Column = { readonly name: string; readonly type: string; readonly required: boolean };

/** Columns of a table as Postgres writes their types. */
async function columnsOf(schema: string, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required
     FROM pg_attribute WHERE attrelid = format('%I.%I', $1::text, $2::text)::regclass AND attnum > 0 AND NOT attisdropped
     ORDER BY attname`,
    [schema, table],
  );
  return rows;
}

/** What Postgres makes of a definition's types. */
async function definedColumns(table: PgTable): Promise<Column[]> {
  const { columns } = getTableConfig(table);
  const definitions = columns.map((column) => {
    const required = column.notNull || column.primary;
    return `"${column.name}" ${column.getSQLType()}${required ? ' NOT NULL' : ''}`;
  });
  await client.query(`CREATE SCHEMA defined; CREATE TABLE defined.probe (${definitions.join(', ')})`);
  const defined = await columnsOf('defined', 'probe');
  await client.query('DROP SCHEMA defined CASCADE');
  return defined;
}

test.each([
  ['pamm_submission', pammSubmissions],
  ['pamm_answer', pammAnswers],
])('the definition of %s is the table that migrations make', async (name, table) => {
  expect(getTableConfig(table).name).toBe(name);
  expect(await columnsOf('operator', name)).toEqual(await definedColumns(table));
});
