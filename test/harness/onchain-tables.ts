import { is } from 'drizzle-orm';
import { getTableConfig, type PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import * as tables from '../../indexer/ponder.schema.ts';
import { viewQueries } from '../../indexer/publication/view-queries.ts';

/** Where the tables are made: the indexer would name it `onchain_1`. */
export const ONCHAIN_SCHEMA = 'onchain_test';

/**
 * Makes the indexer's tables in a migrated database, empty, and publishes them as the views of `live`, as the indexer
 * does when it is complete. For tests that seed rows instead of running an indexer.
 */
export async function createOnchainTables(client: Pick<pg.Client, 'query'>, schema = ONCHAIN_SCHEMA): Promise<void> {
  await asIndexer(client, [
    `CREATE SCHEMA ${schema}`,
    ...onchainTables().flatMap((table) => createStatements(table, schema)),
    `CREATE TABLE ${schema}._ponder_checkpoint (chain_name text PRIMARY KEY, chain_id int8 NOT NULL,
      safe_checkpoint varchar(75) NOT NULL, latest_checkpoint varchar(75) NOT NULL, finalized_checkpoint varchar(75) NOT NULL)`,
    // Nothing says that the index is complete: seeded rows are not compared with a chain.
    `CREATE TABLE ${schema}._ponder_meta (key text PRIMARY KEY, value jsonb NOT NULL)`,
    ...['pool', 'pool_state', 'allowlist', 'allowlist_entry', 'stop_loss', 'price_velocity'].map(
      (name) => `CREATE TABLE ${schema}._reorg__${name} (LIKE ${schema}.${name}, operation_id int PRIMARY KEY,
        operation int NOT NULL, checkpoint varchar(75) NOT NULL)`,
    ),
  ]);
  await publishLiveViews(client, schema);
}

/** Points the views of `live` at a schema the way the indexer's switch does: without CASCADE. */
export async function publishLiveViews(client: Pick<pg.Client, 'query'>, schema = ONCHAIN_SCHEMA): Promise<void> {
  const names = [...onchainTables().map((table) => getTableConfig(table).name), '_ponder_checkpoint'];
  const views = [...viewQueries(schema, names)].flatMap(([name, query]) => [
    `DROP VIEW IF EXISTS live.${name}`,
    `CREATE VIEW live.${name} AS ${query}`,
  ]);
  await asIndexer(client, views);
}

/** All or nothing: what is made is the indexer's. */
async function asIndexer(client: Pick<pg.Client, 'query'>, statements: readonly string[]): Promise<void> {
  await client.query(['SET ROLE ptd_indexer', ...statements, 'RESET ROLE'].join(';'));
}

/**
 * Says up to which block a chain is indexed, as the indexer does in its checkpoint;
 * `isFinal` says that it is final too.
 */
export async function setIndexedBlock(
  client: Pick<pg.Client, 'query'>,
  block: { readonly chainId: number; readonly number: number; readonly timestamp: number; readonly isFinal?: boolean },
  schema = ONCHAIN_SCHEMA,
): Promise<void> {
  const digits = (value: number, width: number) => String(value).padStart(width, '0');
  const place = `${'9'.repeat(16)}9${'9'.repeat(16)}`;
  const checkpoint = `${digits(block.timestamp, 10)}${digits(block.chainId, 16)}${digits(block.number, 16)}${place}`;
  await client.query(
    `INSERT INTO ${schema}._ponder_checkpoint VALUES ($1, $2, $3, $3, $3)
     ON CONFLICT (chain_name) DO UPDATE SET latest_checkpoint = excluded.latest_checkpoint,
       finalized_checkpoint = CASE WHEN $4 THEN excluded.latest_checkpoint ELSE _ponder_checkpoint.finalized_checkpoint END`,
    [`chain-${block.chainId}`, block.chainId, checkpoint, block.isFinal ?? false],
  );
}

function onchainTables(): PgTable[] {
  return Object.values(tables).filter((value): value is typeof value & PgTable => is(value, PgTable));
}

function createStatements(table: PgTable, schema: string): string[] {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table);
  const definitions = columns.map(
    (column) => `"${column.name}" ${column.getSQLType()}${column.notNull ? ' NOT NULL' : ''}`,
  );
  const keys = primaryKeys.map((key) => `PRIMARY KEY (${quoted(key.columns)})`);
  const create = `CREATE TABLE ${schema}."${name}" (${[...definitions, ...keys].join(', ')})`;
  return [create, ...indexes.map(({ config }) => `CREATE INDEX ON ${schema}."${name}" (${quoted(config.columns)})`)];
}

function quoted(columns: readonly unknown[]): string {
  return columns.map((column) => `"${(column as PgColumn).name}"`).join(', ');
}
