import pg from 'pg';

/** Owns the database of another server. */
export const OWNER = 'owner_of_pools';

/** Definitions and owners of all that is ours, and a digest of each table's rows. */
export async function contentOf(url: string): Promise<object> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=''" });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(TABLES);
    const content: Record<string, unknown> = {};
    for (const { name, columns } of tables) {
      const digest = `SELECT count(*), md5(string_agg(t::text, ';' ORDER BY t::text)) FROM (SELECT ${columns} FROM ${name}) t`;
      content[name] = (await client.query(digest)).rows;
    }
    for (const sql of DEFINITIONS) {
      content[sql] = (await client.query({ text: sql, rowMode: 'array' })).rows
        .map((row) => row.join(' ').replaceAll(OWNER, 'postgres'))
        .sort();
    }
    return content;
  } finally {
    await client.end();
  }
}

const OURS = `(SELECT oid FROM pg_namespace
  WHERE nspname IN ('operator', 'history', 'live', 'ponder_sync', 'onchain_1', 'onchain_2', 'read_model'))`;
/** Without what a server recognises its own rows by. */
const TABLES = `
  SELECT c.oid::regclass AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
  FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  WHERE relnamespace IN ${OURS} AND relkind = 'r' AND attname <> 'swap_table' AND relname NOT IN ('listing_source', 'migration')
  GROUP BY c.oid`;
/** Rights, in one order. */
const rights = (acl: string) => `(SELECT string_agg(item::text, ' ' ORDER BY item::text) FROM unnest(${acl}) AS item)`;
const DEFINITIONS = [
  `SELECT nspname, nspowner::regrole, ${rights('nspacl')} FROM pg_namespace WHERE oid IN ${OURS}`,
  `SELECT oid::regclass, relkind, relowner::regrole, ${rights('relacl')}, reloptions FROM pg_class WHERE relnamespace IN ${OURS}`,
  `SELECT attrelid::regclass, attname, attnum, format_type(atttypid, atttypmod), attnotnull, attidentity, attcollation,
     pg_get_expr(adbin, adrelid)
   FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
   WHERE relnamespace IN ${OURS} AND attnum > 0`,
  `SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace IN ${OURS}`,
  `SELECT pg_get_indexdef(oid) FROM pg_class WHERE relkind = 'i' AND relnamespace IN ${OURS}`,
  `SELECT pg_get_functiondef(oid), proowner::regrole, ${rights('proacl')} FROM pg_proc WHERE prokind = 'f' AND pronamespace IN ${OURS}`,
  `SELECT oid::regclass, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND relnamespace IN ${OURS}`,
  'SELECT schemaname, sequencename, data_type, start_value, increment_by, last_value FROM pg_sequences',
  'SELECT read_model.served_schema(), index_schema, swap_table = history.swap_table_of(index_schema) FROM history.trade_mark',
];
