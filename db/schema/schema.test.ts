import { is } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { getTableConfig, getViewConfig, type PgColumn, PgTable, type PgView } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import * as onchain from '../../indexer/ponder.schema.ts';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import * as operatorTables from './operator.ts';
import * as auditTables from './pamm-audit.ts';
import * as readModelViews from './read-model.ts';

const database = startedWorld(createIndexedDatabase);
let client: pg.Client;

beforeAll(async () => {
  client = database.client;
});

type Column = { readonly name: string; readonly type: string; readonly required: boolean };

/** Columns of a table or view as Postgres writes their types. */
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
async function definedColumns(columns: readonly PgColumn[]): Promise<Column[]> {
  const definitions = columns.map((column) => {
    const required = column.notNull || column.primary;
    return `"${column.name}" ${column.getSQLType()}${required ? ' NOT NULL' : ''}`;
  });
  await client.query(`CREATE SCHEMA defined; CREATE TABLE defined.probe (${definitions.join(', ')})`);
  const defined = await columnsOf('defined', 'probe');
  await client.query('DROP SCHEMA defined CASCADE');
  return defined;
}

const tables = [...Object.values(operatorTables), ...Object.values(auditTables)].map(
  (table) => [getTableConfig(table).name, getTableConfig(table).columns] as const,
);

test.each(tables)('the definition of operator.%s is the table that migrations make', async (name, columns) => {
  expect(await columnsOf('operator', name)).toEqual(await definedColumns(columns));
  const { rows } = await client.query<{ name: string }>(
    "SELECT attname AS name FROM pg_attribute WHERE attrelid = ('operator.' || $1)::regclass AND atthasdef ORDER BY 1",
    [name],
  );
  const filled = columns.filter((column) => column.hasDefault || column.generated);
  expect(filled.map((column) => column.name).sort()).toEqual(rows.map((row) => row.name));
});

test('every table of the operator is defined', async () => {
  const { rows } = await client.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'operator'`);
  expect(rows.map(({ name }) => name).sort()).toEqual(tables.map(([name]) => name).sort());
});

const views = Object.values(readModelViews).map((view): readonly [string, PgView] => [getViewConfig(view).name, view]);

/** Columns that are not those of the table with the view's name: whether they are never null. */
const COMPUTED: Readonly<Record<string, boolean>> = {
  'pool.pair': true,
  'pool.token0_symbol': false,
  'pool.token1_symbol': false,
  'pool.token0_decimals': false,
  'pool.token1_decimals': false,
  'pool_state.liquidity0_raw': false,
  'pool_state.liquidity1_raw': false,
  'price_provider.source': false,
  'price_provider.confidence_param': false,
};
/** Views of which every other column is computed, and never null. */
const ALL_COMPUTED = ['pool_bin', 'indexed_block'];

const indexed = new Map(
  Object.values(onchain)
    .filter((table): table is typeof table & PgTable => is(table, PgTable))
    .map((table) => [getTableConfig(table).name, getTableConfig(table).columns]),
);

test.each(views)('the definition of read_model.%s is the view over a served index', async (name, view) => {
  const columns = Object.values(getViewConfig(view).selectedFields) as PgColumn[];
  const shown = await columnsOf('read_model', name);
  const defined = (await definedColumns(columns)).map((column) => ({ ...column, required: false }));
  expect(shown).toEqual(expect.arrayContaining(defined));
  for (const column of columns) {
    const source = indexed.get(name)?.find((one) => one.name === column.name);
    const isRequired = COMPUTED[`${name}.${column.name}`] ?? (ALL_COMPUTED.includes(name) || source?.notNull);
    expect([column.name, column.notNull]).toEqual([column.name, isRequired]);
  }
  expect(await drizzle({ client }).select().from(view).limit(1)).toEqual([]);
});
