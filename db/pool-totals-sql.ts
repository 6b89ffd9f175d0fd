import { TOTAL_NAMES, totalColumn, totalType } from '../protocol/pool-totals.ts';
import type { Queryable } from './transaction.ts';

const KEY_COLUMNS = ['chain_id', 'pool', 'block_timestamp', 'block_number'];

/**
 * Statements that fit `read_model.pool_activity` and `read_model.pool_window` to the list of totals, for the transaction
 * that serves an index which has them; an empty list when they fit, or when the database is not migrated.
 */
export async function totalsStatements(
  client: Queryable,
  names: readonly string[] = TOTAL_NAMES,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = to_regclass('read_model.pool_activity') AND attnum > 0 ORDER BY attnum`,
  );
  const shown = rows.map(({ name }) => name).join();
  const wanted = [...KEY_COLUMNS, ...names.map(totalColumn)].join();
  return shown === '' || shown === wanted
    ? []
    : [...dropStatements, activityRows(names), activityView, poolWindow(names)];
}

/**
 * Fits the read model of a database that was just migrated to the list of totals, unless the index that serves counts
 * others: then its successor does so when it is served.
 */
export async function fitTotals(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass('live.pool_activity') AND attnum > 0`,
  );
  const served = rows.map(({ name }) => name);
  if (served.length > 0 && !TOTAL_NAMES.every((name) => served.includes(totalColumn(name)))) return;
  const statements = await totalsStatements(client);
  // The tables of `live` need not exist yet.
  const settings = 'SET LOCAL check_function_bodies = off';
  if (statements.length > 0) await client.query(['BEGIN', settings, ...statements, 'COMMIT'].join(';'));
}

const dropStatements = [
  'DROP VIEW read_model.pool_activity',
  'DROP FUNCTION read_model.pool_activity_rows()',
  'DROP FUNCTION read_model.pool_window(int8, int8)',
];

const activityView = 'CREATE VIEW read_model.pool_activity AS SELECT * FROM read_model.pool_activity_rows()';

const typed = (names: readonly string[]) => names.map((name) => `${totalColumn(name)} ${totalType(name)}`).join(', ');

function activityRows(names: readonly string[]): string {
  return `
    CREATE FUNCTION read_model.pool_activity_rows()
    RETURNS TABLE (chain_id int8, pool text, block_timestamp int8, block_number int8, ${typed(names)})
    LANGUAGE sql STABLE AS $$
      SELECT ${[...KEY_COLUMNS, ...names.map(totalColumn)].join(', ')} FROM live.pool_activity
    $$`;
}

/**
 * What each pool did in the window (from_ts, to_ts]: two steps down an index per pool, however many swaps there were. A
 * total that is null is so in every row of the pool, and of a pool without a row nothing is counted.
 */
function poolWindow(names: readonly string[]): string {
  const differences = names
    .map(totalColumn)
    .map((column) => `CASE WHEN e.pool IS NULL THEN 0 ELSE e.${column} - coalesce(s.${column}, 0) END`);
  const newestUntil = (end: string) => `(
        SELECT * FROM live.pool_activity a
        WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= ${end}
        ORDER BY a.block_timestamp DESC LIMIT 1
      )`;
  return `
    CREATE FUNCTION read_model.pool_window(from_ts int8, to_ts int8)
    RETURNS TABLE (chain_id int8, pool text, ${typed(names)})
    LANGUAGE sql STABLE AS $$
      SELECT p.chain_id, p.address, ${differences.join(', ')}
      FROM live.pool p
      LEFT JOIN LATERAL ${newestUntil('to_ts')} e ON true
      LEFT JOIN LATERAL ${newestUntil('from_ts')} s ON true
    $$`;
}
